package slab

import (
	"errors"

	"github.com/bufslab/bufslab/device"
)

// What goes back upstream: a segment once nothing of it is used, and whole
// pages from within a free chunk of a range. All of it wants growing.

// shed gives back what has been free since before the last idle epochs ended,
// and returns the bytes.
func (a *arena) shed(idle uint32) int64 {
	a.mu.Lock()
	var old []int32
	a.each(free, func(i int32) bool {
		if a.epoch-a.at(i).stamp >= idle {
			old = append(old, i)
		}
		return true
	})
	a.mu.Unlock()
	var sum int64
	for _, i := range old {
		sum += a.giveBack(i)
	}
	return sum
}

// shedSegments gives wholly free segments back until at least n bytes are.
func (a *arena) shedSegments(n int64) int64 {
	var sum int64
	for s := 0; s < len(a.segs) && sum < n; s++ {
		a.mu.Lock()
		idle := a.segs[s].edge != none && a.segs[s].usedChunks == 0 && a.segs[s].rng == nil
		i := int32(none)
		if idle {
			i = a.at(a.segs[s].edge).prev
		}
		a.mu.Unlock()
		if idle {
			sum += a.giveBack(i)
		}
	}
	return sum
}

// giveBack returns what can go upstream of the chunk i, if it is free still.
func (a *arena) giveBack(i int32) int64 {
	a.mu.Lock()
	if a.at(i).state != free {
		a.mu.Unlock()
		return 0
	}
	s := a.at(i).seg
	if a.segs[s].usedChunks == 0 {
		return a.closeSegment(s)
	}
	if a.segs[s].rng == nil {
		a.mu.Unlock()
		return 0
	}
	off, n := a.detachLocked(i)
	a.managed -= int64(n)
	rng := a.segs[s].rng
	a.mu.Unlock()
	if n > 0 {
		a.must(rng.Decommit(off, n))
	}
	return int64(n)
}

// closeSegment gives segment s back whole. It unlocks mu.
func (a *arena) closeSegment(s int32) int64 {
	n := a.committedLocked(s)
	seg := a.removeLocked(s)
	if seg.rng == nil {
		whole := footprint(seg.block, a.own)
		a.excess -= whole - n
		n = whole
	}
	a.managed -= n
	a.mu.Unlock()
	if seg.rng != nil {
		a.must(seg.rng.Close())
	} else {
		a.upstream.Free(seg.block)
	}
	return n
}

// committedLocked returns the bytes of memory behind segment s.
func (a *arena) committedLocked(s int32) int64 {
	n := a.at(a.segs[s].edge).off
	for i := a.segs[s].edge; i != none; i = a.at(i).prev {
		if a.at(i).state == hole {
			n -= a.at(i).len
		}
	}
	return int64(n)
}

// detachLocked takes the whole pages within the free chunk i out of the heap
// and returns them: the edge of the segment moves down, or a hole is left.
func (a *arena) detachLocked(i int32) (off, n int) {
	c := *a.at(i)
	page := a.segs[c.seg].rng.Page()
	lo, hi := roundUp(c.off, page), roundDown(c.off+c.len, page)
	if hi <= lo {
		return 0, 0
	}
	a.unlist(i)
	if lo > c.off {
		front := i
		i = a.split(i, lo-c.off)
		a.list(front, free)
	}
	if end := c.off + c.len; end > hi {
		a.list(a.split(i, hi-lo), free)
	}
	i = a.merge(i, hole)
	if e := a.segs[c.seg].edge; a.at(i).next == e { // nothing above it
		a.at(e).off = a.at(i).off
		a.unlist(i)
		a.forget(i)
	}
	return lo, hi - lo
}

// punchLocked gives back, before a new peak for n bytes, pages of the largest
// free chunks: at most two, and only if they are worth a call.
func (a *arena) punchLocked(n int) {
	s := a.segs[a.current]
	page := s.rng.Page()
	for range 2 {
		need := n - a.freeLen(a.at(s.edge).prev)
		if need <= 0 || a.managed+int64(a.stepLocked(need, 0, page)) <= a.high {
			return
		}
		i := a.largest(free)
		if i == none {
			return
		}
		if i == a.at(s.edge).prev || a.at(i).len < max(page, need/16) {
			return
		}
		seg := a.at(i).seg
		off, bytes := a.detachLocked(i)
		if bytes == 0 {
			return
		}
		a.managed -= int64(bytes)
		a.must(a.segs[seg].rng.Decommit(off, bytes))
	}
}

// must holds what a device that gives memory back has promised.
func (a *arena) must(err error) {
	if err != nil && !errors.Is(err, device.ErrDeviceLost) {
		panic("slab: upstream would not take memory back: " + err.Error())
	}
}
