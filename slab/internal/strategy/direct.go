package strategy

import (
	"sync"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A Direct keeps nothing: every Alloc and Free goes upstream. It is the
// baseline, and the strategy for an upstream that is a pool already.
type Direct struct {
	upstream.Voucher
	up upstream.Checked

	mu    sync.Mutex
	usage Usage
}

// NewDirect returns a Direct over up.
func NewDirect(up upstream.Checked) *Direct {
	return &Direct{Voucher: up.Voucher(), up: up}
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

// Free takes a block back; see slab.Allocator. Only the upstream knows whether the
// block is out.
func (d *Direct) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	n := d.up.Footprint(b)
	d.up.Free(b)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.usage.sub(b.Len, n-int64(b.Len))
}

// FreeHeld has nothing to give.
func (d *Direct) FreeHeld() {}

// StopHolding has nothing to stop.
func (d *Direct) StopHolding() {}

// Trim has nothing to give.
func (d *Direct) Trim(int) int64 { return 0 }

// Usage reports where the managed bytes are.
func (d *Direct) Usage() Usage {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.usage
}

// Quarantine takes a block out of use for good.
func (d *Direct) Quarantine(b device.Block, _ int32) bool {
	n := d.up.Footprint(b)
	if !giveUp(d.up, b) {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.usage.sub(b.Len, n-int64(b.Len))
	return true
}
