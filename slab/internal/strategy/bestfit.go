package strategy

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/replaying"
	"github.com/bufslab/bufslab/slab/internal/pageheap"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A Bestfit is the strategy bestfit. It cuts blocks of any size from large
// regions, merges blocks that come back, and asks its upstream for more by a miss
// budget. On an upstream that can extend a range in place ([device.Reserver]) it
// keeps one range and grows its top. Elsewhere it adds segments and gives free
// segments back before it passes its old peak. There the budget is for blocks below
// 256 KiB: a segment for a larger block has head-room only for more blocks of its size,
// and at most 1/32 of the managed memory; page-locked memory has none. On a range large blocks
// get as little if nearly all are of one size, and the program keeps them. Alloc and Free take
// constant time.
//
// Blocks and their lengths are multiples of Options.Align: in a pool, unless set, 64 bytes, or
// the alignment that the device needs. For many small blocks use slab: here each block costs a
// record of 48 bytes, and a Free by address looks through the records of its page.
type Bestfit struct {
	upstream.Voucher
	heap   *pageheap.Heap
	active usage // its ActiveBlocks and ActiveBytes only; under the heap's lock
}

var _, _ = Strategy((*Bestfit)(nil)), Numbered((*Bestfit)(nil))

// NewBestfit returns a Bestfit over up.
func NewBestfit(up upstream.Checked, o pageheap.Options) *Bestfit {
	return &Bestfit{Voucher: upstream.Vouch(), heap: pageheap.New(up, o)}
}

// Alloc returns a block of size bytes; see slab.Allocator.
func (p *Bestfit) Alloc(size int) (device.Block, error) {
	b, _, err := p.AllocExtent(size)
	return b, err
}

// AllocExtent is Alloc, with the number of the block's extent.
func (p *Bestfit) AllocExtent(size int) (device.Block, int32, error) {
	return p.alloc(size, p.cut)
}

// alloc counts a block of size bytes that cut returns, which may go upstream.
func (p *Bestfit) alloc(size int, cut func(size int) (device.Block, int32, error)) (device.Block, int32, error) {
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
	p.active.add(size, 0)
	done = true
	return b, extent, nil
}

// AllocFree is AllocExtent of memory that is free; see Numbered.
func (p *Bestfit) AllocFree(size int) (b device.Block, extent int32) {
	if extent = p.heap.AllocFree(size); extent == 0 {
		return b, 0
	}
	p.handedOut(size)
	return p.heap.Block(extent, 0, size), extent
}

// handedOut counts a block that is active from now on. The caller holds the heap's lock.
func (p *Bestfit) handedOut(size int) {
	p.heap.Grew(size)
	p.active.add(size, 0)
	p.heap.Verify()
}

// cut returns an extent as a block. The caller holds the heap's lock.
func (p *Bestfit) cut(size int) (device.Block, int32, error) {
	extent, err := p.heap.Alloc(size)
	if err != nil {
		return device.Block{}, 0, err
	}
	return p.heap.Block(extent, 0, size), extent, nil
}

// Extend makes a block longer where it is; see Numbered. Blocks of a slab are as long as
// their class.
func (p *Bestfit) Extend(b device.Block, extent int32, size int, stay bool, take func() bool) bool {
	if size > upstream.MaxSize {
		return false
	}
	p.heap.Lock()
	defer p.heap.Unlock()
	extent, off := p.heap.Locate(b, extent)
	if extent == 0 || off != 0 || p.heap.Span(extent) != 0 || !p.heap.Extend(extent, size, stay, take) {
		return false
	}
	p.heap.Shrank(b.Len)
	p.heap.Grew(size)
	p.active.sub(b.Len, 0)
	p.active.add(size, 0)
	return true
}

// AllocRoomy returns a block with room to extend; see Numbered.
func (p *Bestfit) AllocRoomy(size int) (b device.Block, extent int32, ok bool) {
	if size <= 0 || size > upstream.MaxSize {
		return b, 0, false
	}
	p.heap.Lock()
	defer p.heap.Unlock()
	if extent = p.heap.AllocRoomy(size); extent == 0 {
		return b, 0, false
	}
	p.handedOut(size)
	return p.heap.Block(extent, 0, size), extent, true
}

// Free takes a block back; see slab.Allocator.
func (p *Bestfit) Free(b device.Block) { p.FreeExtent(b, 0) }

// FreeExtent is Free of a block whose extent has that number; 0 is not known.
func (p *Bestfit) FreeExtent(b device.Block, extent int32) {
	p.heap.Lock()
	over, ok := p.TakeBack(b, extent)
	p.heap.Unlock()
	if over || !ok {
		p.TookBack(b, ok)
	}
}

// TookBack does the rest of a Free after TakeBack; see Numbered.
func (p *Bestfit) TookBack(b device.Block, ok bool) {
	if !ok {
		panic(upstream.NotOut(b))
	}
	p.heap.ReleaseOverHeld()
}

// TakeBack is FreeExtent without the lock; see Numbered.
func (p *Bestfit) TakeBack(b device.Block, extent int32) (over, ok bool) {
	if b == (device.Block{}) {
		return false, true
	}
	if !p.heap.FreeBlock(b, extent) {
		return false, false
	}
	return p.cameBack(b.Len), true
}

// cameBack counts a block of size bytes that has come back, and reports whether too much is held.
// The caller holds the heap's lock.
func (p *Bestfit) cameBack(size int) (over bool) {
	p.heap.Shrank(size)
	p.active.sub(size, 0)
	p.heap.Verify()
	return p.heap.OverHeld()
}

// FreeHeld gives regions that are wholly free upstream, and free pages within ranges.
func (p *Bestfit) FreeHeld() { p.heap.FreeHeld() }

// StopHolding is FreeHeld, and from now on memory goes upstream as soon as it can.
func (p *Bestfit) StopHolding() { p.heap.StopHolding() }

// Trim ends an epoch; see slab.Trimmer.
func (p *Bestfit) Trim(idle int) int64 { return p.heap.Trim(idle) }

// Shrink gives back about n bytes, the longest free first.
func (p *Bestfit) Shrink(n int64) { p.heap.Shrink(n) }

// Extends reports whether n bytes of a Prefill would be in a range that can grow behind them.
func (p *Bestfit) Extends(n int) bool { return p.heap.Extends(n) }

// Prefill gets n bytes from upstream at once, to be held.
func (p *Bestfit) Prefill(n int) error { return p.heap.Prefill(n) }

// PeakUsed returns the most bytes that blocks had at a time, rounding included.
func (p *Bestfit) PeakUsed() int64 { return p.heap.PeakUsed() }

// Extents returns the extents of the heap; see package replaying.
func (p *Bestfit) Extents() []replaying.Extent { return p.heap.Extents() }

// FreeExtents returns how the free bytes lie; see [pageheap.Heap.FreeExtents].
func (p *Bestfit) FreeExtents() (bytes, largest int64, bySize []int64) { return p.heap.FreeExtents() }

// Usage reports where the managed bytes are.
func (p *Bestfit) Usage() device.Usage {
	p.heap.Lock()
	defer p.heap.Unlock()
	return p.usage()
}

// usage counts bytes of the extents in use that were not asked for as rounding. The
// caller holds the heap's lock.
func (p *Bestfit) usage() device.Usage {
	c := p.heap.Counts()
	u := device.Usage(p.active)
	u.HeldBlocks, u.HeldBytes = c.FreeBlocks, c.FreeBytes
	u.UnusableBytes = c.ExcessBytes + c.Quarantined
	u.RoundingBytes = c.ManagedBytes - u.ActiveBytes - u.HeldBytes - u.UnusableBytes
	return u
}
