package slab

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/pageheap"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A bestfitPool is the strategy bestfit. It cuts blocks of any size from large
// regions, merges what comes back, and asks its upstream for more by a miss
// budget. On an upstream that can extend a range in place ([device.Reserver]) it
// keeps one range and grows its top; elsewhere it adds segments and gives free
// ones back before it passes its old peak. There the budget is for blocks below 256
// KiB: a segment for a larger one has head-room for more of its size only, and at most
// 1/32 of what is managed; page-locked memory has none. Alloc and Free take constant
// time.
//
// Blocks and their lengths are multiples of Config.Align: unless set 16 bytes,
// or what the device needs. For many small blocks use slab:
// here each costs a record of about 60 bytes, and a Free by address looks
// through those of its page.
type bestfitPool struct {
	voucher
	heap   *pageheap.Heap
	active Usage // its ActiveBlocks and ActiveBytes only; under the heap's lock
}

var _ Allocator = (*bestfitPool)(nil)

// newBestfit reads Align, MissTarget, Decommit and MaxHeld of c.
func newBestfit(up upstream.Checked, c Config) *bestfitPool {
	return &bestfitPool{voucher: upstream.Vouch(), heap: pageheap.New(up, heapOptions(c))}
}

// Alloc returns a block of size bytes; see [Allocator].
func (p *bestfitPool) Alloc(size int) (device.Block, error) {
	b, _, err := p.AllocExtent(size)
	return b, err
}

// AllocExtent is Alloc, with the number of the block's extent.
func (p *bestfitPool) AllocExtent(size int) (device.Block, int32, error) {
	return p.alloc(size, p.cut)
}

// alloc counts a block of size bytes that cut returns under the heap's lock.
func (p *bestfitPool) alloc(size int, cut func(size int) (device.Block, int32, error)) (device.Block, int32, error) {
	if err := upstream.CheckSize(size); err != nil || size == 0 {
		return device.Block{}, 0, err
	}
	p.heap.Lock()
	p.heap.Grew(size)
	done := false
	defer func() { // also if upstream panics
		if !done {
			p.heap.Shrank(size)
		}
		p.heap.Unlock()
	}()
	b, extent, err := cut(size)
	if err != nil {
		return device.Block{}, 0, err
	}
	p.active.add(size)
	done = true
	return b, extent, nil
}

// cut returns an extent as a block. The caller holds the heap's lock.
func (p *bestfitPool) cut(size int) (device.Block, int32, error) {
	extent, err := p.heap.Alloc(size)
	if err != nil {
		return device.Block{}, 0, err
	}
	return p.heap.Block(extent, 0, size), extent, nil
}

// Free takes a block back; see [Allocator].
func (p *bestfitPool) Free(b device.Block) { p.FreeExtent(b, 0) }

// FreeExtent is Free of a block whose extent has that number; 0 is not known.
func (p *bestfitPool) FreeExtent(b device.Block, extent int32) { p.free(b, extent, p.merge) }

// free gives b to merge, under the heap's lock: it lies in an extent, from an
// offset on. Merge reports whether such a block was out.
func (p *bestfitPool) free(b device.Block, extent int32, merge func(extent int32, off, size int) bool) {
	if b == (device.Block{}) {
		return
	}
	over, ok := p.takeBack(b, extent, merge)
	if !ok {
		panic(upstream.NotOut(b))
	}
	if over {
		p.heap.ReleaseOverHeld()
	}
}

// takeBack also reports whether more is held now than may be.
func (p *bestfitPool) takeBack(b device.Block, extent int32, merge func(extent int32, off, size int) bool) (over, ok bool) {
	p.heap.Lock()
	defer p.heap.Unlock()
	extent, off := p.heap.Locate(b, extent)
	if extent == 0 || !merge(extent, off, b.Len) {
		return false, false
	}
	p.heap.Shrank(b.Len)
	p.active.sub(b.Len)
	return p.heap.OverHeld(), true
}

// merge takes the extent back if it is a block of size bytes. The caller holds
// the heap's lock.
func (p *bestfitPool) merge(extent int32, off, size int) bool {
	if off != 0 || size != p.heap.Size(extent) {
		return false
	}
	p.heap.Free(extent)
	return true
}

// FreeHeld gives regions that are wholly free upstream, and free pages within ranges.
func (p *bestfitPool) FreeHeld() { p.heap.FreeHeld() }

// StopHolding is FreeHeld, and from now on memory goes upstream as soon as it can.
func (p *bestfitPool) StopHolding() { p.heap.StopHolding() }

// Trim ends an epoch; see [Trimmer].
func (p *bestfitPool) Trim(idle int) int64 { return p.heap.Trim(idle) }

// Usage reports where the managed bytes are.
func (p *bestfitPool) Usage() Usage {
	p.heap.Lock()
	defer p.heap.Unlock()
	return p.usage()
}

// usage counts what of the extents in use was not asked for as rounding. The
// caller holds the heap's lock.
func (p *bestfitPool) usage() Usage {
	c := p.heap.Counts()
	u := p.active
	u.HeldBlocks, u.HeldBytes = c.FreeBlocks, c.FreeBytes
	u.UnusableBytes = c.ExcessBytes + c.Quarantined
	u.RoundingBytes = c.ManagedBytes - u.ManagedBytes()
	return u
}
