package opencl

import (
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// A Pinned is the region of opencl:N:pinned: host memory that the driver has
// allocated for fast copies, and that is mapped until it is freed.
//
// OpenCL does not speak of page-locked memory. This is the memory of a buffer
// made with CL_MEM_ALLOC_HOST_PTR, which drivers page-lock where that makes
// copies fast. They recognise its address when it is the host side of a copy.
type Pinned struct {
	region
	m []byte
}

func newPinned(d *Device, size int) (device.Region, error) {
	mem, err := d.create(size, ReadWrite|AllocHostPtr)
	if err != nil {
		return nil, err
	}
	c := d.ctx
	var k code
	p := c.EnqueueMapBuffer(c.queue, mem, 1, mapReadWrite, 0, uintptr(size), 0, nil, nil, &k)
	if p == nil && k == succeeded {
		k = failedAlloc
	}
	if err := c.failed(k, "clEnqueueMapBuffer", "%d bytes on %s", size, d.base.Name()); err != nil {
		c.ReleaseMemObject(mem)
		return nil, err
	}
	r := &Pinned{m: unsafe.Slice((*byte)(p), size)}
	r.init(d, size, func() {
		c.EnqueueUnmap(c.queue, mem, p, 0, nil, nil)
		c.ReleaseMemObject(mem) // when that is done
		c.Flush(c.queue)
	})
	return r, nil
}

func (p *Pinned) cut(size, align int) {
	skip := skipped(p.m, align)
	p.m = p.m[skip : skip+size : skip+size]
	p.resize(size)
}

// Bytes returns the memory, nil when it is freed.
func (p *Pinned) Bytes() []byte {
	if p.life.Freed() {
		return nil
	}
	return p.m
}
