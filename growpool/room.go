package growpool

import "math"

// What a key may keep, and what is evicted to make room in the budget.

// admit asks the cache whether the key may keep b, and evicts the buffers that
// have to go for b. After StopHolding no key may keep a buffer.
func (p *Pool[K]) admit(e *entry[K], b *buffer) bool {
	if p.stopped.Load() {
		return false
	}
	if p.policy == nil {
		return true
	}
	evicted, ok := p.policy.admit(e.id, b, int64(b.size)+p.budget.perKey)
	p.evictAll(evicted)
	return ok
}

// expel undoes admit.
func (p *Pool[K]) expel(e *entry[K]) {
	if p.policy != nil {
		p.evictAll(p.policy.remove(e.id))
	}
}

// reserveEvicting reserves bytes for a buffer in use. It evicts idle buffers of
// other keys until there is room or none is left.
func (p *Pool[K]) reserveEvicting(e *entry[K], size int) bool {
	for !p.budget.reserve(size) {
		if !p.evictIdle(e) {
			return p.budget.reserve(size)
		}
	}
	return true
}

// candidates is the number of idle buffers that evictIdle looks at. If there are more, the
// least used of the candidates is about the least used of all.
const candidates = 64

// evictIdle looks at some idle buffers, and evicts the buffer of the key with the fewest
// requests. The cache cannot choose: it compares a key with few others, and not on demand. In
// the order of the table a scan with leases would evict every buffer.
func (p *Pool[K]) evictIdle(e *entry[K]) bool {
	var least *entry[K]
	var buf *buffer
	fewest, seen := int64(math.MaxInt64), 0
	for x := range p.table.all() {
		b := x.cur.Load()
		if x == e || b == nil || !b.idle() {
			continue
		}
		if n := x.requests(); n < fewest {
			least, buf, fewest = x, b, n
		}
		if seen++; seen == candidates {
			break
		}
	}
	if least == nil {
		return false
	}
	p.expel(least)
	p.evict(buf)
	return true
}

// evict takes a buffer from its key for good. The caller may hold locks of
// entries, and no other.
func (p *Pool[K]) evict(b *buffer) {
	do := b.change(evict)
	if do&unlink == 0 {
		return // the key does not have it
	}
	e := b.owner.(*entry[K])
	e.cur.CompareAndSwap(b, nil)
	defer func() { // also if the Release panics
		if e.mu.TryLock() {
			p.unlock(e)
		}
	}()
	b.perform(do)
}

// evictAll evicts all buffers, also if the Release of one panics.
func (p *Pool[K]) evictAll(list []*buffer) {
	i := 0
	defer func() {
		if i < len(list) {
			p.evictAll(list[i+1:])
		}
	}()
	for ; i < len(list); i++ {
		p.evict(list[i])
	}
}

// clear evicts the key's buffer. The caller holds e.mu.
func (p *Pool[K]) clear(e *entry[K]) {
	if b := e.cur.Load(); b != nil {
		p.evict(b)
	}
}
