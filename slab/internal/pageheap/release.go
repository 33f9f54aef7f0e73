package pageheap

import (
	"errors"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/align"
)

// FreeHeld gives regions that are wholly free upstream, and free pages within ranges.
func (h *Heap) FreeHeld() {
	h.growMu.Lock()
	defer h.growMu.Unlock()
	h.releaseIdle(0)
}

// StopHolding is FreeHeld, and from now on memory goes upstream as soon as it can.
func (h *Heap) StopHolding() {
	h.mu.Lock()
	h.maxHeld = 0
	h.mu.Unlock()
	h.FreeHeld()
}

// Trim ends an epoch and gives back what has been free for the last idle
// epochs. It returns the bytes that went upstream.
func (h *Heap) Trim(idle int) int64 {
	h.growMu.Lock()
	defer h.growMu.Unlock()
	n := h.releaseIdle(idle)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.epoch++
	return n
}

// ReleaseOverHeld gives memory back where more is held than may be: the extent
// that was freed last, then segments, then the largest extents.
func (h *Heap) ReleaseOverHeld() {
	h.growMu.Lock()
	defer h.growMu.Unlock()
	h.mu.Lock()
	last := h.lastFreed
	h.mu.Unlock()
	h.release(last)
	if n, _ := h.overHeld(); n > 0 {
		h.releaseSegments(n)
	}
	for n, i := h.overHeld(); n > 0 && i != none && h.release(i) > 0; {
		n, i = h.overHeld()
	}
}

// overHeld returns the bytes that are held beyond what may be, and an extent
// that is among the largest of them.
func (h *Heap) overHeld() (int64, int32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.index[free].bytes - h.maxHeld, h.largest(free)
}

// releaseIdle gives back what has been free since before the last idle epochs
// ended, and returns the bytes. The caller holds growMu.
func (h *Heap) releaseIdle(idle int) int64 {
	var sum int64
	for _, i := range h.idleExtents(idle) {
		sum += h.release(i)
	}
	return sum
}

func (h *Heap) idleExtents(idle int) (list []int32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.each(free, func(i int32) bool {
		if int64(h.epoch-h.at(i).stamp) >= int64(idle) {
			list = append(list, i)
		}
		return true
	})
	return list
}

// releaseSegments gives wholly free segments back until at least n bytes are.
// The caller holds growMu.
func (h *Heap) releaseSegments(n int64) int64 {
	var sum int64
	for s := 0; s < len(h.segs) && sum < n; s++ {
		if i := h.unusedSegment(int32(s)); i != none {
			sum += h.release(i)
		}
	}
	return sum
}

// unusedSegment returns the one extent of a segment that is wholly free and no
// range, else none.
func (h *Heap) unusedSegment(s int32) int32 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if seg := &h.segs[s]; seg.end == none || seg.used > 0 || seg.rng != nil {
		return none
	}
	return h.top(s)
}

// release gives back what can go upstream of extent i, if it is free still, and
// returns the bytes. The caller holds growMu.
func (h *Heap) release(i int32) int64 {
	n, giveBack := h.detach(i)
	if n > 0 {
		giveBack()
	}
	return n
}

// detach takes what can go upstream of extent i out of the heap. It returns the
// bytes, and the call that gives them back.
func (h *Heap) detach(i int32) (n int64, giveBack func()) {
	h.mu.Lock()
	defer h.Unlock()
	x := h.at(i)
	if x.state != free {
		return 0, nil
	}
	seg := &h.segs[x.seg]
	if seg.used == 0 {
		return h.detachSegment(x.seg)
	}
	if seg.rng == nil {
		if seg.used > seg.isolated {
			return 0, nil
		}
		return h.detachRest(i)
	}
	rng := seg.rng
	off, pages := h.detachPages(i)
	h.managed -= int64(pages)
	return int64(pages), func() { mustRelease(rng.Decommit(off, pages)) }
}

// detachSegment is detach of a whole segment.
func (h *Heap) detachSegment(s int32) (n int64, giveBack func()) {
	n = h.committed(s)
	seg := h.removeSegment(s)
	if seg.rng != nil {
		h.managed -= n
		return n, func() { mustRelease(seg.rng.Close()) }
	}
	whole := h.up.Footprint(seg.block)
	h.excess -= whole - n
	h.managed -= whole
	return whole, func() { h.up.Free(seg.block) }
}

// detachPages takes the whole pages within the free extent i out of the heap
// and returns them: the end of the segment moves down, or a decommitted extent
// is left.
func (h *Heap) detachPages(i int32) (off, n int) {
	x := *h.at(i)
	page := h.segs[x.seg].rng.Page()
	lo, hi := align.Up(x.off, page), align.Down(x.off+x.len, page)
	if hi <= lo {
		return 0, 0
	}
	h.unlist(i)
	if lo > x.off {
		front := i
		i = h.split(i, lo-x.off)
		h.list(front, free)
	}
	if x.off+x.len > hi {
		h.list(h.split(i, hi-lo), free)
	}
	i = h.merge(i, decommitted)
	if e := h.segs[x.seg].end; h.at(i).next == e { // nothing above it
		h.at(e).off = h.at(i).off
		h.unlist(i)
		h.forget(i)
	}
	return lo, hi - lo
}

// decommitLargest gives back, before a new peak for n bytes, pages of the
// largest free extents: at most two, and only if they are worth a call. The
// caller holds both locks.
func (h *Heap) decommitLargest(n int) {
	page := h.segs[h.current].rng.Page()
	for range 2 {
		top := h.top(h.current)
		need := n - h.freeLen(top)
		if need <= 0 || h.managed+int64(h.step(need, 0, page)) <= h.policy.high {
			return
		}
		i := h.largest(free)
		if i == none || i == top || h.at(i).len < max(page, need/16) {
			return
		}
		rng := h.segs[h.at(i).seg].rng
		off, bytes := h.detachPages(i)
		if bytes == 0 {
			return
		}
		h.managed -= int64(bytes)
		mustRelease(rng.Decommit(off, bytes))
	}
}

// mustRelease holds a device that gives memory back to what it has promised.
func mustRelease(err error) {
	if err != nil && !errors.Is(err, device.ErrDeviceLost) {
		panic("slab: upstream would not take memory back: " + err.Error())
	}
}
