package opencl

import "unsafe"

// A Pinned is the region of opencl:N:pinned: host memory that the driver has
// made, page-locked where that is what makes copies fast, and mapped until it
// is freed.
//
// OpenCL has no page-locked memory by that name. Drivers take it for the memory
// behind buffers of CL_MEM_ALLOC_HOST_PTR, and know its address when it is the
// host side of a copy.
type Pinned struct {
	region
	m []byte
}

func newPinned(d *Device, size int) (owned, error) {
	mem, err := d.create(size, memReadWrite|memAllocHostPtr)
	if err != nil {
		return nil, err
	}
	c := d.ctx
	var k code
	p := c.EnqueueMapBuffer(c.queue, mem, 1, mapReadWrite, 0, uintptr(size), 0, nil, nil, &k)
	if p == nil && k == succeeded {
		k = failedAlloc
	}
	if err := c.failed(k, "clEnqueueMapBuffer", "%d bytes on %s", size, d.name); err != nil {
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

// Bytes returns the memory, nil when it is freed.
func (p *Pinned) Bytes() []byte {
	if p.gone.Load() {
		return nil
	}
	return p.m
}
