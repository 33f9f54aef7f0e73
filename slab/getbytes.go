package slab

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// GetBytes is Get for a program that keeps the slice and no handle: give it back by Put. Its
// capacity is size. For device memory the error wraps [device.ErrUnavailable].
//
// On the Go heap a forgotten slice comes back as every buffer does. Off the heap the collector
// sees no slices: there the buffer is active until Put, and a forgotten buffer for good. Where such
// buffers become more and more, the pool logs a warning, once.
func (p *Pool) GetBytes(size int) ([]byte, error) {
	b, err := p.Get(size)
	if err != nil {
		return nil, err
	}
	return b.bySlice()
}

// GetBytesContext is GetBytes that waits as [Pool.GetContext] does, with its errors.
func (p *Pool) GetBytesContext(ctx context.Context, size int) ([]byte, error) {
	b, err := p.GetContext(ctx, size)
	if err != nil {
		return nil, err
	}
	return b.bySlice()
}

// bySlice returns the bytes of b to a program that keeps no handle, as all of a slice. Device memory has no slice:
// then it releases b.
func (b PooledBuffer) bySlice() ([]byte, error) {
	if b.ptr == nil {
		return nil, errors.Join(fmt.Errorf("slab: GetBytes of memory that the CPU cannot reach: %w", device.ErrUnavailable),
			b.Release())
	}
	b.slot.BySlice()
	return unsafe.Slice((*byte)(b.ptr), b.n), nil
}
