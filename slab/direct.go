package slab

import (
	"sync"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A directPool keeps nothing: every Alloc and Free goes upstream. It is the
// baseline, and the strategy for an upstream that is a pool already.
type directPool struct {
	voucher
	up upstream.Checked

	mu    sync.Mutex
	usage Usage
}

var _ Allocator = (*directPool)(nil)

func newDirect(up upstream.Checked) *directPool {
	return &directPool{voucher: up.Voucher(), up: up}
}

// Alloc returns a block of size bytes; see [Allocator].
func (d *directPool) Alloc(size int) (device.Block, error) {
	if err := upstream.CheckSize(size); err != nil || size == 0 {
		return device.Block{}, err
	}
	b, err := d.up.Alloc(size)
	if err != nil {
		return b, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.usage.add(size)
	d.usage.RoundingBytes += d.up.Footprint(b) - int64(size)
	return b, nil
}

// Free takes a block back; see [Allocator]. Only the upstream knows whether the
// block is out.
func (d *directPool) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	n := d.up.Footprint(b)
	d.up.Free(b)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.usage.sub(b.Len)
	d.usage.RoundingBytes -= n - int64(b.Len)
}

// Usage reports where the managed bytes are.
func (d *directPool) Usage() Usage {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.usage
}
