package upstreamtest

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/intervals"
)

// Page is what ranges of [Pages] are committed in, unless it says otherwise.
const Page = 4096

// ErrClosed says that a range was closed twice.
var ErrClosed = errors.New("upstreamtest: closed twice")

// Pages is a Source that can also reserve ranges: small ones, or those of the device below. It is
// strict: it panics where a page is committed twice or given back twice. A device would not mind,
// but no strategy could say how many bytes it has then.
type Pages struct {
	Source
	RangeBytes int   // of each range; 0 is 1 MiB
	PageBytes  int   // 0 is [Page]
	Ranges     int   // that may be open at a time; 0 is any number, less: there are none
	Ahead      int   // bytes that a Commit makes ready beyond its own; 0: ranges are not lazy
	Fail       error // of each Commit, Decommit, GiveUp and Close while it is set

	Open, Opened int
	Decommits    int
	GivenUp      int // bytes of addresses
	Top          int // highest byte ever committed

	ranges map[device.Region]*pageRange // that are open
}

// Reserve returns a range of size bytes, or of RangeBytes if that is less.
func (p *Pages) Reserve(size int) (device.Range, error) {
	if err := p.before("Reserve"); err != nil {
		return nil, err
	}
	r, err := p.reserve(size)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		return nil, p.refusal(err)
	}
	if p.ranges == nil {
		p.ranges = map[device.Region]*pageRange{}
	}
	p.ranges[r.region] = r
	p.Open++
	p.Opened++
	return r, nil
}

func (p *Pages) reserve(size int) (*pageRange, error) {
	if p.Under != nil {
		below, ok := p.Under.(device.Reserver)
		if !ok {
			return nil, fmt.Errorf("upstreamtest: no ranges: %w", device.ErrUnavailable)
		}
		g, err := below.Reserve(size)
		if err != nil {
			return nil, err
		}
		return &pageRange{p: p, below: g, region: g.Region()}, nil
	}
	n := min(cmp.Or(p.RangeBytes, 1<<20), size)
	switch {
	case p.Ranges < 0:
		return nil, fmt.Errorf("upstreamtest: no ranges: %w", device.ErrUnavailable)
	case p.Ranges > 0 && p.Open == p.Ranges:
		return nil, fmt.Errorf("upstreamtest: no addresses: %w", device.ErrOutOfMemory)
	case n < p.page():
		return nil, fmt.Errorf("upstreamtest: Reserve of less than a page of %d bytes: %w", p.page(), device.ErrSize)
	}
	r := &pageRange{p: p}
	r.own = &pageRegion{NewRegion(n), r}
	r.region = r.own
	if p.Host {
		r.own.Mem = aligned(n, max(p.Align, p.page()))
	}
	return r, nil
}

// ofRange asks whether a call of a range fails.
func (p *Pages) ofRange(call string) error {
	if p.Fail != nil {
		return p.Fail
	}
	return p.before(call)
}

func (p *Pages) page() int { return cmp.Or(p.PageBytes, Page) }

type pageRange struct {
	p        *Pages
	below    device.Range // of the device below, nil if the range is the source's own
	region   device.Region
	own      *pageRegion   // region, if it is the source's own
	in, gone intervals.Set // bytes that are committed, and that were given up
	ready    int           // their Commit is no call
}

func (r *pageRange) Region() device.Region { return r.region }

func (r *pageRange) Page() int {
	if r.below != nil {
		return r.below.Page()
	}
	return r.p.page()
}

// Ready makes the range a [device.LazyRange] where there is an Ahead.
func (r *pageRange) Ready() int {
	if r.p.Ahead == 0 {
		return -1
	}
	return r.ready
}

func (r *pageRange) Commit(off, n int) error {
	p := r.p
	if err := p.ofRange("Commit"); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r.demand(off, n, false)
	if err := p.charge(n); err != nil {
		return err
	}
	if r.below != nil {
		if err := r.below.Commit(off, n); err != nil {
			p.Bytes -= int64(n)
			return p.refusal(err)
		}
	}
	switch {
	case p.Ahead == 0:
	case off+n <= r.ready:
		p.Calls--
		p.Allocs--
	case off <= r.ready:
		r.ready = off + n + p.Ahead
	}
	r.in.Add(off, off+n)
	p.count(0)
	p.Top = max(p.Top, off+n)
	return nil
}

func (r *pageRange) Decommit(off, n int) error {
	p := r.p
	if err := p.ofRange("Decommit"); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r.demand(off, n, true)
	switch {
	case r.below != nil:
		if err := r.below.Decommit(off, n); err != nil {
			return err
		}
	case p.Align > 0:
		device.Fill(r.own.Mem[off:off+n], FreedByte)
	case p.Host:
		clear(r.own.Mem[off : off+n])
	}
	r.in.Remove(off, off+n)
	p.Decommits++
	p.Bytes -= int64(n)
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
	if err := p.ofRange("GiveUp"); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	g.r.demand(off, n, false)
	p.GivenUp += n
	g.r.gone.Add(off, off+n) // so that it is not committed again
	if off+n == g.size && off > 0 {
		g.size = off
	}
	return nil
}

// demand panics unless n bytes from off are whole pages of an open range, of which none was given
// up, and all are committed or none. The caller holds mu.
func (r *pageRange) demand(off, n int, committed bool) {
	page, size, want := r.Page(), r.size(), 0
	if committed {
		want = n
	}
	if r.p.ranges[r.region] != r || off < 0 || n <= 0 || n > size-off || off%page != 0 || n%page != 0 ||
		r.gone.Overlap(off, off+n) != 0 || r.in.Overlap(off, off+n) != want {
		panic(fmt.Sprintf("upstreamtest: %d bytes at %d of a range of %d: open %t, committed %v and not %t, given up %v",
			n, off, size, r.p.ranges[r.region] == r, r.in, committed, r.gone))
	}
}

// size does not count as measuring.
func (r *pageRange) size() int {
	if r.own != nil {
		return r.own.size
	}
	return r.region.Size()
}

// Close gives back what is committed still.
func (r *pageRange) Close() error {
	p := r.p
	if err := p.ofRange("Close"); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ranges[r.region] != r {
		return ErrClosed
	}
	switch {
	case r.below != nil:
		if err := r.below.Close(); err != nil {
			return err
		}
	case p.Align > 0:
		device.Fill(r.own.Mem, FreedByte)
	}
	delete(p.ranges, r.region)
	p.Open--
	for _, in := range r.in {
		p.Bytes -= int64(in.Hi - in.Lo)
	}
	return nil
}
