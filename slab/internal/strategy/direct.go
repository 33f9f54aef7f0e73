package strategy

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/freelist"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A Direct keeps nothing: every Alloc and Free goes upstream. It is the
// baseline, and the strategy for an upstream that is a pool already.
//
// Only the upstream knows which blocks are active. If its Free panics, Direct cannot tell a
// failure from a mistake of the caller. Then the block stays active, and the caller may free
// it again. If all callers are certain, Direct holds the block instead.
type Direct struct {
	keeper
	certain bool
}

var _ Strategy = (*Direct)(nil)

// NewDirect returns a Direct over up. Certain says that only active blocks are freed, as in a
// pool: a handle is released once.
func NewDirect(up upstream.Checked, certain bool) *Direct {
	return &Direct{newKeeper(up, freelist.Options{}), certain}
}

// Alloc returns a block of size bytes; see slab.Allocator.
func (d *Direct) Alloc(size int) (device.Block, error) {
	if err := upstream.CheckSize(size); err != nil || size == 0 {
		return device.Block{}, err
	}
	b, err := d.up.Alloc(size)
	if err != nil {
		return b, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.usage.add(size, d.up.Footprint(b)-int64(size))
	return b, nil
}

// Free takes a block back; see slab.Allocator.
func (d *Direct) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	n := d.up.Footprint(b)
	gone := false
	defer func() {
		if !gone && d.certain {
			d.takeBack(b, n)
			d.strand([]device.Block{b})
		}
	}()
	d.up.Free(b)
	gone = true
	d.takeBack(b, n)
}

// takeBack counts a block of n bytes as no longer active.
func (d *Direct) takeBack(b device.Block, n int64) {
	d.mu.Lock()
	d.usage.sub(b.Len, n-int64(b.Len))
	d.mu.Unlock()
}

// Quarantine takes a block out of use for good.
func (d *Direct) Quarantine(b device.Block, _ int32) bool {
	n := d.up.Footprint(b)
	if !giveUp(d.up, b) {
		return false
	}
	d.takeBack(b, n)
	return true
}
