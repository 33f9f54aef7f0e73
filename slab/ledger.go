package slab

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// A ledger stands between a pool's strategy and its upstream: it counts what
// goes through, holds the upstream to its contract, and tells the pool of
// regions that leave.
type ledger struct {
	upstream Allocator
	own      bool // see ownRegions
	align    int
	left     func(device.Region) // before the region goes upstream
	discard  atomic.Bool         // what goes upstream now will not be needed again soon

	allocs, frees atomic.Int64 // calls that succeeded
	managed, peak atomic.Int64 // bytes
}

func (l *ledger) Alloc(size int) (device.Block, error) {
	b, err := l.upstream.Alloc(size)
	if err != nil || size == 0 {
		return b, err
	}
	if fault := l.fault(b, size); fault != "" {
		if b.Region != nil {
			l.upstream.Free(b)
		}
		return device.Block{}, fmt.Errorf("%w: %s for %d bytes", ErrUpstream, fault, size)
	}
	l.allocs.Add(1)
	l.add(footprint(b, l.own))
	return b, nil
}

// fault says what is wrong with a block of an upstream, or "".
func (l *ledger) fault(b device.Block, size int) string {
	switch {
	case b.Region == nil:
		return "no region"
	case b.Len != size:
		return fmt.Sprintf("a block of %d bytes", b.Len)
	case b.Off < 0 || b.Region.Size()-b.Off < size:
		return fmt.Sprintf("a region of %d bytes, offset %d", b.Region.Size(), b.Off)
	}
	if m := device.Bytes(b); m != nil {
		if a := uintptr(unsafe.Pointer(unsafe.SliceData(m))); a&uintptr(l.align-1) != 0 {
			return fmt.Sprintf("an address that is no multiple of %d", l.align)
		}
	}
	return ""
}

func (l *ledger) Free(b device.Block) {
	l.left(b.Region)
	l.sub(footprint(b, l.own)) // first, so that no budget looks exceeded
	if l.discard.Load() {
		discardCollected(b)
	}
	l.upstream.Free(b)
	l.frees.Add(1)
}

// discardCollected gives back the pages of a block that goes to the collector.
// Those of other devices go with it, but the Go heap keeps what it frees
// resident for minutes.
func discardCollected(b device.Block) {
	if _, ok := b.Region.(device.Collected); !ok {
		return
	}
	if d, ok := b.Region.(device.Discarder); ok {
		d.Discard(b.Off, b.Len) // if it fails, the pages stay: a cost, not a fault
	}
}

// Unwrap returns the upstream.
func (l *ledger) Unwrap() Allocator { return l.upstream }

func (l *ledger) add(n int64) {
	for m := l.managed.Add(n); ; {
		p := l.peak.Load()
		if m <= p || l.peak.CompareAndSwap(p, m) {
			return
		}
	}
}

func (l *ledger) sub(n int64) { l.managed.Add(-n) }

// Reserve makes a ledger a [device.Reserver] as far as its upstream is one.
func (l *ledger) Reserve(size int) (device.Range, error) {
	rng, err := reserveOf(l.upstream, size)
	if err != nil {
		return nil, err
	}
	return &ledgerRange{Range: rng, l: l}, nil
}

type ledgerRange struct {
	device.Range
	l     *ledger
	bytes int64 // committed
}

func (r *ledgerRange) Commit(off, n int) error {
	if err := r.Range.Commit(off, n); err != nil {
		return err
	}
	r.bytes += int64(n)
	r.l.allocs.Add(1)
	r.l.add(int64(n))
	return nil
}

func (r *ledgerRange) Decommit(off, n int) error {
	r.l.sub(int64(n))
	if err := r.Range.Decommit(off, n); err != nil {
		r.l.add(int64(n))
		return err
	}
	r.bytes -= int64(n)
	r.l.frees.Add(1)
	return nil
}

func (r *ledgerRange) Close() error {
	r.l.left(r.Region())
	r.l.sub(r.bytes)
	if err := r.Range.Close(); err != nil {
		r.l.add(r.bytes)
		return err
	}
	if r.bytes > 0 {
		r.l.frees.Add(1)
	}
	r.bytes = 0
	return nil
}
