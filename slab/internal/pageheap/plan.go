package pageheap

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/align"
)

// A plan says which bytes of a range to commit.
type plan struct {
	rng      device.Range
	seg      int32 // of the range
	off, len int
	extent   int32 // decommitted; none: at the top
	equal    bool  // for a block among equal ones
}

// plan picks the cheapest place for n bytes: a decommitted extent, with the free
// memory before it, or the top, with a free tail. It reports false if there is no
// place. A decommitted extent may take a page more than the top: with the cheaper
// place every time, a range that is trimmed again and again grew for ever. The
// caller holds growMu.
func (h *Heap) plan(n int, exact bool) (best plan, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	least, step := maxInt, n
	if h.current >= 0 && h.room(h.current) >= n {
		best, least = h.planTop(n, exact)
		least += best.rng.Page()
		step = best.len
	}
	h.eachDecommitted(n, func(i int32) {
		x := h.at(i)
		rng := h.segs[x.seg].rng
		if k := align.Up(max(n-h.freeLen(x.prev), 1), rng.Page()); k <= min(x.len, least) {
			least = k
			best = plan{rng: rng, seg: x.seg, off: x.off, len: min(x.len, max(k, align.Down(step, rng.Page()))),
				extent: i}
		}
	})
	if best.rng == nil {
		return best, false
	}
	best.equal = !h.isLazy(best.seg) && h.amongEquals(n)
	return best, true
}

// planTop is the plan for the top of the current range, and the least bytes that
// are enough there.
func (h *Heap) planTop(n int, exact bool) (p plan, least int) {
	s := h.segs[h.current]
	top, page := h.at(s.end).off, s.rng.Page()
	need := max(n-h.freeLen(h.top(h.current)), 1)
	least = align.Up(need, page)
	p = plan{rng: s.rng, seg: h.current, off: top, len: least}
	if !exact {
		p.len = min(h.blockStep(h.current, n, need), align.Down(s.rng.Region().Size(), page)-top)
	}
	return p, least
}

// eachDecommitted calls f with some decommitted extents that may take n bytes: an
// extent that holds them alone, and extents that follow the largest free extents.
func (h *Heap) eachDecommitted(n int, f func(int32)) {
	if h.index[decommitted].count == 0 {
		return
	}
	if i := h.find(decommitted, n); i != none {
		f(i)
	}
	for i, most := h.largest(free), 16; i != none && most > 0; most-- {
		if next := h.at(i).next; h.at(next).state == decommitted {
			f(next)
		}
		i = h.at(i).down
	}
}

// topStep returns the bytes to commit at the top of range s if need bytes are needed: only
// need if a call commits far ahead anyway.
func (h *Heap) topStep(s int32, need int) int {
	page := h.segs[s].rng.Page()
	if h.isLazy(s) {
		return align.Up(need, page)
	}
	return h.step(need, 0, page, h.index[free].bytes)
}

// blockStep is topStep for a block of n bytes, of which need are needed: less among equal blocks.
func (h *Heap) blockStep(s int32, n, need int) int {
	step := h.topStep(s, need)
	if h.amongEquals(n) {
		step = h.equalStep(n, need, step, h.segs[s].rng.Page())
	}
	return step
}

// step is the policy's.
func (h *Heap) step(need, least, page int, free int64) int {
	return h.mayHold(need, h.policy.step(need, least, page, h.managed, free), page)
}

// mayHold returns n, or less if the bytes beyond need exceed the bytes that may be held:
// they would have to go back at the next Free.
func (h *Heap) mayHold(need, n, page int) int {
	if h.maxHeld > int64(n) {
		return n
	}
	return min(n, align.Up(need, page)+align.Down(int(h.maxHeld), page))
}

// amongEquals reports whether a block of n bytes is to come to a heap that has equal blocks. The caller
// holds mu.
func (h *Heap) amongEquals(n int) bool {
	before := h.policy.equals.without(n)
	return before.most(h.usedBytes())
}

// equalStep returns how far to grow among equal blocks where need bytes are needed for a block of n and the
// policy wants step: as where regions cannot grow, and for a small block by a first step at least. While
// calls are scarce, what there was before may come again. The caller holds mu.
func (h *Heap) equalStep(n, need, step, page int) int {
	more := h.managed / largeShare
	if n < largeBlock {
		more = max(more, firstStep)
	} else {
		more -= more % int64(n)
	}
	if h.policy.budget() < 1 {
		more = max(more, h.policy.high-h.managed-int64(need))
	}
	if int64(step-need) <= more {
		return step
	}
	return align.Up(need+int(more), page)
}
