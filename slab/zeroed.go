package slab

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// GetZeroed is Get with the size bytes cleared; the rest of the block is not. Where the device
// is a [device.Clearer], pages of a large buffer that have no memory yet stay without. For device
// memory it needs a pool that was opened on the device itself.
func (p *Pool) GetZeroed(size int) (PooledBuffer, error) {
	b, err := p.Get(size)
	if err != nil || p.pool.config.Zero {
		return b, err
	}
	return zero(b, p.pool.upstream)
}

// zero clears a fresh buffer of an upstream's memory. If it cannot, it releases the
// buffer and says why.
func zero(b PooledBuffer, upstream Allocator) (PooledBuffer, error) {
	if b.ptr != nil {
		clearOn(upstream, unsafe.Slice((*byte)(b.ptr), b.n))
		return b, nil
	}
	if err := fill(b, deviceOf(upstream)); err != nil {
		return PooledBuffer{}, errors.Join(err, b.Release())
	}
	return b, nil
}

// asksFrom is the least number of bytes for which a device is asked what is zero already: of large tables much may
// never be used.
const asksFrom = 1 << 20

// clearOn clears memory of an upstream.
func clearOn(upstream Allocator, m []byte) {
	if len(m) >= asksFrom {
		if c, ok := deviceOf(upstream).(device.Clearer); ok {
			c.Clear(m)
			return
		}
	}
	clear(m)
}

// fill has the device clear b. On device virtual there is no memory to clear.
func fill(b PooledBuffer, d device.Device) error {
	switch {
	case d == nil:
		return fmt.Errorf("slab: GetZeroed of memory that neither the CPU nor a known device can clear: %w",
			device.ErrUnavailable)
	case isVirtual(d.Name()):
		return nil
	}
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	return errors.Join(s.Fill(b.Block(), 0), s.Sync(), s.Close())
}
