package percpu

const (
	// LeastBytes is the least budget of a processor that makes a cache worth having.
	LeastBytes = 16 << 10
	// shareBytes is the largest block that may have a part of the share: a few larger blocks would fill it.
	shareBytes = 32 << 10
)

// A budget says how many bytes a processor, or the depot, may hold. share is a part of the
// managed bytes. Classes of blocks of up to shareBytes may fill it. Beyond share, up to most,
// only classes with earned blocks may hold bytes: see worth.go.
type budget struct{ share, most int64 }

// budget returns the budget of now. It grows with the managed bytes, from a least that costs
// little memory.
func (o *Options) budget(most int64) budget {
	part := o.Managed() / o.Divisor / int64(o.Processors+1)
	return budget{min(most, max(part, o.Least)), most}
}

// shares reports whether classes of blocks of block bytes may hold bytes in all.
func (b budget) shares(bytes, block int64) bool { return bytes <= b.share && block <= shareBytes }

// allows reports whether bytes may be held in all, and have blocks of a class, each of block bytes.
func (w *wants) allows(b budget, bytes, block int64, class int, have int32) bool {
	return b.shares(bytes, block) || bytes <= b.most && have <= w.earned[class].Load()
}

// grant changes the limit of a class cache, if the budget allows it. The caller is
// pinned and has found the limit not negative.
func (p *cpu) grant(class int, limit, to int32, b budget) bool {
	k, block := &p.caches[class], p.options.blockBytes(class)
	more := int64(to-limit) * block
	if !p.wants.allows(b, p.granted+more, block, class, to+k.nprevious) {
		return false
	}
	if p.options.Raised != nil {
		p.options.Raised()
	}
	if !k.limit.CompareAndSwap(limit, to) { // it was closed
		return false
	}
	p.granted += more
	return true
}

// grow doubles the limit of a class cache, or adds one block where the budget has no
// more.
func (p *cpu) grow(class int, limit int32, b budget) bool {
	bytes := p.options.blockBytes(class)
	if to := max(1, min(2*limit, most(bytes))); p.granted+int64(to-limit)*bytes <= b.share {
		return p.grant(class, limit, to, b)
	}
	return p.grant(class, limit, limit+1, b)
}
