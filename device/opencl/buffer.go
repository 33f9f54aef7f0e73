package opencl

import (
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// A Buffer is the region of opencl:N and opencl:N:deferred: a cl_mem, which
// the CPU cannot reach. [Device.SubBuffer] makes a block of it an argument for a
// kernel.
type Buffer struct{ region }

// newDeferred makes a buffer as OpenCL does by itself: the driver may put off
// finding memory for it until it is first used, and find none then.
func newDeferred(d *Device, size int) (device.Region, error) {
	mem, err := d.create(size, d.flags)
	if err != nil {
		return nil, err
	}
	return d.buffer(mem, size), nil
}

// newImmediate moves the buffer to the device before it is written, which
// moves nothing but makes the driver find memory, or say that there is
// none. It waits for that: the call may only be enqueued, and fail later. What
// failed is released; forgotten here, it would be lost at the very moment when
// memory is short.
func newImmediate(d *Device, size int) (device.Region, error) {
	mem, err := d.create(size, d.flags)
	if err != nil {
		return nil, err
	}
	c := d.ctx
	var done eventID
	k := c.EnqueueMigrate(c.queue, 1, &mem, contentUndefined, 0, nil, &done)
	if k == succeeded {
		k = c.finish(done)
	}
	if err := c.failed(k, "clEnqueueMigrateMemObjects", "%d bytes on %s", size, d.base.Name()); err != nil {
		c.ReleaseMemObject(mem)
		return nil, err
	}
	return d.buffer(mem, size), nil
}

// create is clCreateBuffer.
func (d *Device) create(size int, flags MemFlags) (memID, error) {
	var k code
	mem := d.ctx.CreateBuffer(d.ctx.id, uint64(flags), uintptr(size), unsafe.Pointer(nil), &k)
	return mem, d.ctx.failed(k, "clCreateBuffer", "%d bytes on %s", size, d.base.Name())
}

func (d *Device) buffer(mem memID, size int) *Buffer {
	b := &Buffer{region{mem: mem}}
	b.init(d, size, func() { d.ctx.ReleaseMemObject(mem) })
	return b
}
