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
func (p *Pool) GetBytes(size int) ([]byte, error) { return bytesOf(p.Get(size)) }

// GetBytesContext is GetBytes that waits as [Pool.GetContext] does, with its errors.
func (p *Pool) GetBytesContext(ctx context.Context, size int) ([]byte, error) {
	return bytesOf(p.GetContext(ctx, size))
}

// bytesOf returns the bytes of a buffer that a Get has returned to a program that keeps no handle. Device memory has no
// slice: then it releases b.
func bytesOf(b PooledBuffer, err error) ([]byte, error) {
	switch {
	case err != nil:
		return nil, err
	case b.ptr == nil:
		return nil, errors.Join(fmt.Errorf("slab: GetBytes of memory that the CPU cannot reach: %w", device.ErrUnavailable),
			b.Release())
	}
	b.slot.BySlice()
	return unsafe.Slice((*byte)(b.ptr), b.n), nil
}
