package opencl

import (
	"fmt"
	"sync/atomic"

	"github.com/bufslab/bufslab/device"
)

// A SubBuffer is the cl_mem of one block, for a kernel's arguments. It keeps the
// memory of the region, but a pool may reuse the block: release the SubBuffer
// before the block. It is safe for concurrent use.
type SubBuffer struct {
	of   *Buffer
	mem  memID
	gone atomic.Bool
}

// SubBuffer makes a cl_mem of a block. The error wraps [device.ErrSize] when b is
// empty, not inside its region or not at a multiple of Align in Traits, and
// [device.ErrUnavailable] when b is freed or not in a Buffer of this hardware.
// Shared virtual memory goes to kernels by its address instead.
func (d *Device) SubBuffer(b device.Block) (*SubBuffer, error) {
	of, err := d.whole(b)
	if err != nil {
		return nil, err
	}
	if err := of.hold(); err != nil {
		return nil, err
	}
	var k code
	part := [2]uintptr{uintptr(b.Off), uintptr(b.Len)}
	mem := d.ctx.CreateSubBuffer(of.mem, uint64(of.dev.flags.kernels()), subBufferRegion, &part, &k)
	if err := d.ctx.failed(k, "clCreateSubBuffer", "%d bytes at offset %d on %s", b.Len, b.Off,
		d.base.Name()); err != nil {
		of.drop()
		return nil, err
	}
	return &SubBuffer{of: of, mem: mem}, nil
}

// whole judges b, so that the driver is asked for nothing that it has to
// refuse, and returns the buffer that a sub-buffer of b can be cut from.
func (d *Device) whole(b device.Block) (*Buffer, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	if err := device.CheckBlock(b); err != nil {
		return nil, err
	}
	if align := d.ctx.AlignBytes; b.Len == 0 || b.Off%align != 0 {
		return nil, fmt.Errorf("opencl: sub-buffer of %d bytes at offset %d, where multiples of %d can be had, on %s: %w",
			b.Len, b.Off, align, d.base.Name(), device.ErrSize)
	}
	of, ok := b.Region.(*Buffer)
	if !ok || of.dev.ctx != d.ctx {
		return nil, fmt.Errorf("opencl: sub-buffer of a %T, which is no buffer of %s: %w", b.Region, d.base.Name(),
			device.ErrUnavailable)
	}
	return of, nil
}

// Mem returns the cl_mem.
func (s *SubBuffer) Mem() uintptr { return uintptr(s.mem) }

// Release gives the sub-buffer back. Enqueued work may still use it. Only the
// first call does anything.
func (s *SubBuffer) Release() {
	if s.gone.Swap(true) {
		return
	}
	s.of.dev.ctx.ReleaseMemObject(s.mem)
	s.of.drop()
}
