package slab

import (
	"errors"
	"fmt"

	"github.com/bufslab/bufslab/device"
)

const page = 4096

// pages is an upstream of small ranges that is strict: it panics where memory
// is committed twice or given back twice. Its Alloc is that of fake.
type pages struct {
	fake
	rangeBytes int // of each range; 0 is 1 MiB
	ranges     int // that may be open at a time; 0 is any number
	open       int
	opened     int
	decommits  int
	top        int // highest byte ever committed
}

func (p *pages) Reserve(size int) (device.Range, error) {
	if p.ranges > 0 && p.open == p.ranges {
		return nil, fmt.Errorf("pages: no addresses: %w", device.ErrOutOfMemory)
	}
	n := p.rangeBytes
	if n == 0 {
		n = 1 << 20
	}
	r := &pageRange{p: p, region: &fakeRegion{size: min(n, size)}, in: make([]bool, n/page)}
	if p.host {
		r.region.bytes = make([]byte, n)
	}
	p.open++
	p.opened++
	return r, nil
}

type pageRange struct {
	p      *pages
	region *fakeRegion
	in     []bool
	closed bool
}

func (r *pageRange) Region() device.Region { return r.region }
func (r *pageRange) Page() int             { return page }

func (r *pageRange) Commit(off, n int) error {
	p := r.p
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls++
	if p.calls == p.failAt && p.failWith != nil {
		return p.failWith
	}
	if p.calls == p.failAt || p.capacity > 0 && p.bytes+int64(n) > p.capacity {
		return fmt.Errorf("pages: %d bytes: %w", n, device.ErrOutOfMemory)
	}
	r.set(off, n, true)
	p.allocs++
	p.top = max(p.top, off+n)
	return nil
}

func (r *pageRange) Decommit(off, n int) error {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	r.set(off, n, false)
	r.p.decommits++
	if r.region.bytes != nil {
		clear(r.region.bytes[off : off+n])
	}
	return nil
}

func (r *pageRange) set(off, n int, in bool) {
	if r.closed || n <= 0 || off%page != 0 || n%page != 0 {
		panic(fmt.Sprintf("pages: %d bytes at %d, closed %v", n, off, r.closed))
	}
	for k := off / page; k < (off+n)/page; k++ {
		if r.in[k] == in {
			panic(fmt.Sprintf("pages: page %d is committed: %v", k, in))
		}
		r.in[k] = in
		if in {
			r.p.bytes += page
		} else {
			r.p.bytes -= page
		}
	}
}

func (r *pageRange) Close() error {
	if r.closed {
		return errors.New("pages: closed twice")
	}
	r.closed = true
	r.p.open--
	for _, in := range r.in {
		if in {
			r.p.bytes -= page
		}
	}
	return nil
}

// check verifies an arena that nobody uses at the moment: its geometry, and
// that what it says of segments, blocks and bytes is true.
func (a *arena) check() error {
	var edges []int32
	var committed int64
	for s := range a.segs {
		seg := &a.segs[s]
		if seg.block.Region == nil {
			continue
		}
		edges = append(edges, seg.edge)
		committed += a.committedLocked(int32(s))
		n := 0
		for i := a.at(seg.edge).prev; i != none; i = a.at(i).prev {
			if a.at(i).state == used {
				n++
			}
		}
		if n != seg.usedChunks || a.at(seg.edge).seg != int32(s) {
			return fmt.Errorf("segment %d: %d used chunks, %d counted", s, n, seg.usedChunks)
		}
		if id, ok := a.where.find(seg.block); !ok || id != int32(s) {
			return fmt.Errorf("segment %d is found as %d, %v", s, id, ok)
		}
	}
	if committed+a.excess != a.managed || a.managed > a.high {
		return fmt.Errorf("%d bytes in segments, %d beyond, %d managed, %d at most", committed, a.excess, a.managed, a.high)
	}
	var active int64
	for at, i := range a.byPlace {
		if c := a.at(i); c.state != used || at != a.placeLocked(c.seg, c.off) || c.asked > c.len {
			return fmt.Errorf("block at place %d is chunk %+v", at, *c)
		} else {
			active += int64(c.len)
		}
	}
	if active != a.activeBytes {
		return fmt.Errorf("%d bytes active, %d counted", active, a.activeBytes)
	}
	return a.heap.check(edges...)
}
