package pageheap

import (
	"github.com/bufslab/bufslab/slab/internal/align"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// extendTries bounds how often Extend tries again because others took the memory first.
const extendTries = 3

// Extend makes the used extent i size bytes long, if the memory after it is free or a range can get
// memory there. If i at least doubles and had better be copied (see hasRoom), Extend gets no memory
// unless stay is true. take is called when nothing can fail any more. If take refuses, or there is no
// such memory, Extend reports false and i is as before. The caller holds the lock, which is given back
// while the heap goes upstream, and keeps i in use.
func (h *Heap) Extend(i int32, size int, stay bool, take func() bool) bool {
	n := align.Up(size, h.align)
	for try := 0; ; try++ {
		need := n - h.at(i).len
		if need <= h.freeLen(h.at(i).next) {
			if !take() {
				return false
			}
			h.absorb(i, need)
			h.at(i).excess = uint32(h.at(i).len - size)
			return true
		}
		if !stay && try == 0 && h.at(i).len <= need && h.hasRoom(need, n) {
			return false
		}
		switch err := h.unlocked(func() error { return h.growAfter(i, n) }); {
		case try == extendTries:
			return false
		case err == nil:
		case try == 0 && h.drainBeforePeak(n): // the neighbour may lie in a cache
		default:
			return false
		}
	}
}

// growAfter has the upstream put memory after the used extent i, so that together with the free
// memory there it has n bytes. On out of memory it asks for exactly that. It does not count
// Gets for the policy as growOnce does: to count reads every class cache.
func (h *Heap) growAfter(i int32, n int) error {
	h.growMu.Lock()
	defer h.growMu.Unlock()
	if _, need, ok := h.planAfter(i, n, true); ok {
		h.makeGood(need, i)
	}
	err := h.commitAfter(i, n, false)
	if upstream.OutOfMemory(err) {
		err = h.commitAfter(i, n, true)
	}
	return err
}

// commitAfter goes upstream once for growAfter. The caller holds growMu.
func (h *Heap) commitAfter(i int32, n int, exact bool) error {
	p, need, ok := h.planAfter(i, n, exact)
	switch {
	case !ok:
		return errNoneAfter
	case need <= 0: // since the caller looked
		return nil
	case p.extent == none && !exact:
		h.decommitBeforePeak(n)
	}
	return h.commit(p)
}

// planAfter says which bytes to commit after extent i and the free memory there: of a decommitted
// extent, or at the top of the range. It reports false if neither follows i, or too few
// addresses do. need is the number of missing bytes.
func (h *Heap) planAfter(i int32, n int, exact bool) (p plan, need int, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	x := h.at(i)
	after := x.next
	k := h.freeLen(after)
	if k > 0 {
		after = h.at(after).next
	}
	need = n - x.len - k
	seg := h.segs[x.seg]
	if need <= 0 || seg.rng == nil {
		return p, need, need <= 0
	}
	p = plan{rng: seg.rng, seg: x.seg, off: h.at(after).off, len: align.Up(need, seg.rng.Page())}
	switch h.at(after).state {
	case decommitted:
		p.extent = after
		return p, need, p.len <= h.at(after).len
	case end:
		if !exact {
			p.len = min(h.topStep(x.seg, need), seg.rng.Region().Size()-p.off)
		}
		return p, need, h.room(x.seg) >= need
	}
	return p, need, false
}
