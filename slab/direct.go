package slab

import (
	"sync"

	"github.com/bufslab/bufslab/device"
)

// Direct keeps nothing: every Alloc and Free goes upstream. It is the baseline,
// and the strategy for an upstream that is a pool already. It is safe for
// concurrent use if its upstream is.
type Direct struct {
	upstream Allocator
	own      bool

	mu    sync.Mutex
	usage Usage
}

// NewDirect returns a Direct over upstream. Of c it reads nothing.
func NewDirect(upstream Allocator, _ Config) *Direct {
	return &Direct{upstream: upstream, own: ownRegions(upstream)}
}

// Alloc returns a block of size bytes; see [Allocator].
func (d *Direct) Alloc(size int) (device.Block, error) {
	if err := checkSize(size); err != nil || size == 0 {
		return device.Block{}, err
	}
	b, err := drawWhole(d.upstream, size)
	if err != nil {
		return b, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.usage.add(size)
	d.usage.RoundingBytes += footprint(b, d.own) - int64(size)
	return b, nil
}

// Free takes a block back; see [Allocator]. That it is out is for the
// upstream to judge.
func (d *Direct) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	n := footprint(b, d.own)
	d.upstream.Free(b)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.usage.sub(b.Len)
	d.usage.RoundingBytes -= n - int64(b.Len)
}

// Usage reports where the managed bytes are.
func (d *Direct) Usage() Usage {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.usage
}
