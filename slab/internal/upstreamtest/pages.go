package upstreamtest

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/bufslab/bufslab/device"
)

// Page is what ranges of [Pages] are committed in, unless it says otherwise.
const Page = 4096

// ErrClosed says that a range was closed twice.
var ErrClosed = errors.New("upstreamtest: closed twice")

// Pages is a Source that can also reserve small ranges. It is strict: it panics where a
// page is committed twice or given back twice.
type Pages struct {
	Source
	RangeBytes int   // of each range; 0 is 1 MiB
	PageBytes  int   // 0 is [Page]
	Bare       bool  // ranges do not know which pages are committed, and so may be huge
	Ranges     int   // that may be open at a time; 0 is any number
	Ahead      int   // bytes that a Commit makes ready beyond its own; 0: ranges are not lazy
	Fail       error // of each Commit, Decommit, GiveUp and Close while it is set

	Open, Opened int
	Decommits    int
	GivenUp      int // bytes of addresses
	Top          int // highest byte ever committed
}

// Reserve returns a range of size bytes, or of RangeBytes if that is less.
func (p *Pages) Reserve(size int) (device.Range, error) {
	if p.Ranges > 0 && p.Open == p.Ranges {
		return nil, fmt.Errorf("upstreamtest: no addresses: %w", device.ErrOutOfMemory)
	}
	n := p.RangeBytes
	if n == 0 {
		n = 1 << 20
	}
	r := &pageRange{p: p}
	r.region = &pageRegion{NewRegion(min(n, size)), r}
	if !p.Bare {
		r.in = make([]bool, r.region.size/p.page())
	}
	if p.Host {
		r.region.Mem = make([]byte, r.region.size)
	}
	p.Open++
	p.Opened++
	return r, nil
}

func (p *Pages) page() int { return cmp.Or(p.PageBytes, Page) }

type pageRange struct {
	p      *Pages
	region *pageRegion
	in     []bool // which pages are committed
	ready  int    // their Commit is no call
	closed bool
}

func (r *pageRange) Region() device.Region { return r.region }
func (r *pageRange) Page() int             { return r.p.page() }

// Ready makes the range a [device.LazyRange] where there is an Ahead.
func (r *pageRange) Ready() int {
	if r.p.Ahead == 0 {
		return -1
	}
	return r.ready
}

func (r *pageRange) Commit(off, n int) error {
	p := r.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Fail != nil {
		return p.Fail
	}
	if err := p.charge(n); err != nil {
		return err
	}
	switch {
	case p.Ahead == 0:
	case off+n <= r.ready:
		p.Calls--
		p.Allocs--
	case off <= r.ready:
		r.ready = off + n + p.Ahead
	}
	r.set(off, n, true)
	p.Top = max(p.Top, off+n)
	return nil
}

func (r *pageRange) Decommit(off, n int) error {
	p := r.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Fail != nil {
		return p.Fail
	}
	r.set(off, n, false)
	p.Decommits++
	p.Bytes -= int64(n)
	if p.Host {
		clear(r.region.Mem[off : off+n])
	}
	return nil
}

// A pageRegion is the region of a range, which can shrink.
type pageRegion struct {
	*Region
	r *pageRange
}

// GiveUp panics where a page is committed or was given up, as a Commit does then.
func (g *pageRegion) GiveUp(off, n int) error {
	p := g.r.p
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Fail != nil {
		return p.Fail
	}
	if off < 0 || n < 0 || n >= g.size || off+n > g.size || off%p.page() != 0 || n%p.page() != 0 {
		panic(fmt.Sprintf("upstreamtest: %d bytes, %d at %d given up", g.size, n, off))
	}
	p.GivenUp += n
	g.r.set(off, n, true) // so that it is not committed again
	if off+n == g.size {
		g.size = off
		g.r.in = g.r.in[:min(len(g.r.in), off/p.page())]
	}
	return nil
}

// set marks pages, all of which change.
func (r *pageRange) set(off, n int, in bool) {
	page := r.p.page()
	if r.closed || n <= 0 || off%page != 0 || n%page != 0 {
		panic(fmt.Sprintf("upstreamtest: %d bytes at %d, closed %v", n, off, r.closed))
	}
	for k := off / page; k < (off+n)/page && !r.p.Bare; k++ {
		if r.in[k] == in {
			panic(fmt.Sprintf("upstreamtest: page %d is committed: %v", k, in))
		}
		r.in[k] = in
	}
}

func (r *pageRange) Close() error {
	p := r.p
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.Fail != nil:
		return p.Fail
	case r.closed:
		return ErrClosed
	}
	r.closed = true
	p.Open--
	for _, in := range r.in {
		if in {
			p.Bytes -= int64(p.page())
		}
	}
	return nil
}
