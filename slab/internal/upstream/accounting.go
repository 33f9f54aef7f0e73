package upstream

import (
	"math"
	"sync/atomic"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/intervals"
)

// An Accounting is an Allocator between a pool's strategy and its upstream. It
// counts what goes through and tells the pool of regions that leave. It is safe
// for concurrent use if its upstream is.
type Accounting struct {
	Voucher
	up      Checked
	leaving func(device.Region) (stays func())
	onLeave func(device.Block)

	allocs, frees atomic.Int64
	managed, peak atomic.Int64
	drawn         atomic.Int64 // bytes that were ever managed
	passing       atomic.Int64 // calls that run
}

// NewAccounting returns an Accounting over up. Leaving is called with each
// region before the region, or the block in it, goes upstream; if upstream does not take it, what
// leaving has returned is.
func NewAccounting(up Checked, leaving func(device.Region) (stays func())) *Accounting {
	return &Accounting{Voucher: up.Voucher(), up: up, leaving: leaving, onLeave: func(device.Block) {}}
}

// OnLeave makes f see all memory just before it goes upstream, while it can still be
// read: a block, a part of a range, or all addresses of a range. It is called before
// anything is drawn.
func (a *Accounting) OnLeave(f func(device.Block)) { a.onLeave = f }

// Checked returns what a strategy draws on.
func (a *Accounting) Checked() Checked { return Check(a, a.up.regions, a.up.align) }

// OwnsRegions reports whether every block is a region of its own.
func (a *Accounting) OwnsRegions() bool { return a.up.regions }

// Allocs and Frees return the number of calls upstream that succeeded.
func (a *Accounting) Allocs() int64 { return a.allocs.Load() }

// Frees returns the number of calls that gave memory back.
func (a *Accounting) Frees() int64 { return a.frees.Load() }

// Passing reports whether a call upstream runs. What it takes is not managed yet, and what it
// gives back is not any more, while upstream has it still. A call that is over is counted.
func (a *Accounting) Passing() bool { return a.passing.Load() != 0 }

// Managed returns the bytes from upstream now.
func (a *Accounting) Managed() int64 { return a.managed.Load() }

// Peak returns the most bytes that Managed has been since ResetPeak, or that RaisePeak was told.
func (a *Accounting) Peak() int64 { return a.peak.Load() }

// ResetPeak makes Peak what Managed is.
func (a *Accounting) ResetPeak() {
	a.peak.Store(0)
	a.add(0)
}

// Alloc draws a block of size bytes from upstream.
func (a *Accounting) Alloc(size int) (device.Block, error) {
	a.passing.Add(1)
	defer a.passing.Add(-1)
	b, err := a.up.Alloc(size)
	if err != nil {
		return device.Block{}, err
	}
	a.allocs.Add(1)
	a.add(a.up.Footprint(b))
	return b, nil
}

// Free gives a block back upstream.
func (a *Accounting) Free(b device.Block) {
	a.onLeave(b)
	stays := a.leaving(b.Region)
	a.takeOff(a.up.Footprint(b), stays, func() bool { a.up.Free(b); return true })
}

// GiveUp puts pages in quarantine and takes n bytes for them from the count.
func (a *Accounting) GiveUp(pages device.Block, n int64) (gone bool) {
	a.onLeave(pages)
	a.passOff(n, func() {}, func() bool { gone = a.up.GiveUp(pages, n); return gone })
	if gone && pages.Len == pages.Region.Size() {
		a.leaving(pages.Region)
	}
	return gone
}

// giveBack takes n bytes from what is managed and gives them upstream: first, so that no
// budget looks exceeded. If upstream fails or panics they are managed still, and stays is called.
func (a *Accounting) giveBack(n int64, free func() error, stays func()) (err error) {
	a.takeOff(n, stays, func() bool { err = free(); return err == nil })
	return err
}

// takeOff is giveBack for a free that reports whether the upstream took the bytes.
func (a *Accounting) takeOff(n int64, stays func(), free func() bool) {
	if a.passOff(n, stays, free) && n > 0 {
		a.frees.Add(1)
	}
}

// passOff is takeOff, but not counted as a call that frees. It reports whether the bytes have gone.
func (a *Accounting) passOff(n int64, stays func(), free func() bool) (gone bool) {
	a.passing.Add(1)
	defer a.passing.Add(-1)
	a.managed.Add(-n)
	defer func() {
		if !gone {
			a.add(n)
			stays()
		}
	}()
	return free()
}

// Drawn only grows: by the bytes that come from upstream, before they are managed, and by those that would not go back.
func (a *Accounting) Drawn() int64 { return a.drawn.Load() }

func (a *Accounting) add(n int64) {
	a.drawn.Add(n)
	a.RaisePeak(a.managed.Add(n))
}

// RaisePeak makes Peak at least n: what is managed together with what lies below, which
// nobody tells of its own accord.
func (a *Accounting) RaisePeak(n int64) {
	for {
		p := a.peak.Load()
		if n <= p || a.peak.CompareAndSwap(p, n) {
			return
		}
	}
}

// Reserve makes an Accounting a [device.Reserver] as far as its upstream is one.
func (a *Accounting) Reserve(size int) (device.Range, error) {
	r, err := a.up.Reserve(size)
	if err != nil {
		return nil, err
	}
	return &accountedRange{Range: r, a: a}, nil
}

// An accountedRange counts a byte once, however often it is committed.
type accountedRange struct {
	device.Range
	a         *Accounting
	committed intervals.Set
}

func (r *accountedRange) Commit(off, n int) error {
	r.a.passing.Add(1)
	defer r.a.passing.Add(-1)
	called := off+n > r.Ready()
	if err := r.Range.Commit(off, n); err != nil {
		return err
	}
	if called {
		r.a.allocs.Add(1)
	}
	if n > 0 {
		more := n - r.committed.Overlap(off, off+n)
		r.committed.Add(off, off+n)
		r.a.add(int64(more))
	}
	return nil
}

func (r *accountedRange) Ready() int { return Ready(r.Range) }

func (r *accountedRange) Decommit(off, n int) error {
	r.a.onLeave(device.Block{Region: r.Region(), Off: off, Len: n})
	less := r.committed.Overlap(off, off+n)
	if err := r.a.giveBack(int64(less), func() error { return r.Range.Decommit(off, n) }, func() {}); err != nil {
		return err
	}
	r.committed.Remove(off, off+n)
	return nil
}

func (r *accountedRange) Close() error {
	r.a.onLeave(device.Block{Region: r.Region(), Len: r.Region().Size()})
	stays := r.a.leaving(r.Region())
	bytes := int64(r.committed.Overlap(0, math.MaxInt))
	if err := r.a.giveBack(bytes, r.Range.Close, stays); err != nil {
		return err
	}
	r.committed = nil
	return nil
}
