package percpu

// Which blocks leave a processor whose budget is full.

// shrinkOther takes all blocks from the cache of another class, each class in turn, so
// that unused classes do not starve the others. The caller is pinned.
func (p *cpu) shrinkOther(but int) (out *magazine) {
	for range p.caches {
		p.victim = p.after(p.victim)
		k := &p.caches[p.victim]
		limit := k.limit.Load()
		if p.victim == but || limit <= 0 || !k.limit.CompareAndSwap(limit, 0) {
			continue
		}
		return p.detach(p.victim, limit, nil)
	}
	return nil
}

// after returns the class after class, in turn.
func (p *cpu) after(class int) int {
	if class++; class < len(p.caches) {
		return class
	}
	return 0
}

// detach takes both magazines from a class cache and links them to out. limit is the old
// limit; the caller has changed it already.
func (p *cpu) detach(class int, limit int32, out *magazine) *magazine {
	k := &p.caches[class]
	p.granted -= int64(limit+k.nprevious) * p.options.blockBytes(class)
	p.moving()
	defer p.moved()
	return k.unload(class, out)
}
