package slab

import "github.com/bufslab/bufslab/device"

// Bestfit cuts blocks of any size from large regions, merges what comes back,
// and asks its upstream for more by a miss budget. On an upstream that can
// extend a range in place ([device.Reserver]) it keeps one range and grows its
// top; elsewhere it adds segments and gives free ones back before it passes
// its old peak. Alloc and Free take constant time.
//
// Blocks and their lengths are multiples of Config.Align: unless set 16 bytes,
// or what a [device.Aligned] upstream needs. It is safe for concurrent use.
// For many small blocks use [Slab]: here each costs a record of about 100 bytes.
type Bestfit struct{ arena }

// NewBestfit returns a Bestfit over upstream. Of c it reads Align,
// MissTarget, Decommit and MaxHeld.
func NewBestfit(upstream Allocator, c Config) *Bestfit {
	c = c.forStrategy("bestfit", upstream)
	return &Bestfit{newArena(upstream, c, c.Align)}
}

// Alloc returns a block of size bytes; see [Allocator].
func (b *Bestfit) Alloc(size int) (device.Block, error) {
	if err := checkSize(size); err != nil || size == 0 {
		return device.Block{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.grew(size)
	blk, err := b.allocLocked(size)
	if err != nil {
		b.shrank(size)
		return blk, err
	}
	b.asked.add(size)
	return blk, nil
}

// Free takes a block back; see [Allocator].
func (b *Bestfit) Free(blk device.Block) {
	if blk == (device.Block{}) {
		return
	}
	b.mu.Lock()
	i := b.lookupLocked(blk)
	if i == none {
		b.mu.Unlock()
		panic(notOut(blk))
	}
	b.freeLocked(i)
	b.shrank(blk.Len)
	b.asked.sub(blk.Len)
	b.settle()
}

// Usage reports where the managed bytes are.
func (b *Bestfit) Usage() Usage {
	b.mu.Lock()
	defer b.mu.Unlock()
	u := b.asked
	u.RoundingBytes = b.activeBytes - u.ActiveBytes
	u.HeldBlocks, u.HeldBytes = b.index[free].count, b.index[free].bytes
	u.UnusableBytes = b.excess
	return u
}
