//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"runtime"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/bufslab/bufslab/device"
)

// A place is where the bytes of a block are: at an address of the GPU, in
// memory of the host, or in some that both reach.
type place struct {
	addr cu.DevicePtr // 0 where the memory is pageable
	host []byte       // nil where the CPU cannot reach it
}

// locate finds the bytes of a block that was checked.
func (g *gpu) locate(b device.Block) (place, error) {
	r, ours := b.Region.(*region)
	if !ours || r.owner.gpu != g && !r.portable {
		host, err := device.HostBytes(g.label, b)
		return place{host: host}, err
	}
	if r.gone.Load() {
		return place{}, fmt.Errorf("cuda: %d bytes at offset %d of a freed region of %d: %w", b.Len, b.Off, r.size,
			device.ErrUnavailable)
	}
	return place{addr: r.addr + cu.DevicePtr(b.Off), host: device.Bytes(b)}, nil
}

// A copying is a copy that was checked: all that can go wrong now is up to the driver.
type copying struct {
	dst, src place
	n        int
}

func (g *gpu) plan(dst, src device.Block) (c copying, err error) {
	if err := device.CheckCopy(dst, src); err != nil {
		return c, err
	}
	c.n = dst.Len
	if c.dst, err = g.locate(dst); err == nil {
		c.src, err = g.locate(src)
	}
	return c, err
}

// enqueue puts the copy into q. Where memory is pageable it waits until all
// of it is done.
func (c copying) enqueue(q cu.Stream) error {
	switch n := int64(c.n); {
	case c.n == 0 || c.dst.addr == c.src.addr && c.dst.addr != 0:
		return nil
	case c.overlaps():
		return c.shift(q)
	case c.dst.addr != 0 && c.src.addr != 0:
		return cu.MemcpyAsync(c.dst.addr, c.src.addr, n, q)
	case c.dst.host != nil && c.src.host != nil:
		err := q.Synchronize()
		if err == nil {
			copy(c.dst.host, c.src.host)
		}
		return err
	case c.src.addr == 0:
		return pinnedDuring(c.src.host, q,
			func(p unsafe.Pointer) error { return cu.MemcpyHtoDAsync(c.dst.addr, p, n, q) })
	default:
		return pinnedDuring(c.dst.host, q,
			func(p unsafe.Pointer) error { return cu.MemcpyDtoHAsync(p, c.src.addr, n, q) })
	}
}

// pinnedDuring holds Go's memory in place from before the driver learns of it
// until the driver is done.
func pinnedDuring(m []byte, q cu.Stream, call func(unsafe.Pointer) error) error {
	p := unsafe.Pointer(unsafe.SliceData(m))
	var pin runtime.Pinner
	pin.Pin(p)
	defer pin.Unpin()
	err := call(p)
	// Even after an error: part of the work may be under way.
	if sync := q.Synchronize(); err == nil {
		err = sync
	}
	return err
}

func (c copying) overlaps() bool {
	n := cu.DevicePtr(c.n)
	return c.dst.addr != 0 && c.src.addr != 0 && c.dst.addr < c.src.addr+n && c.src.addr < c.dst.addr+n
}

// shiftBytes is how much of an overlapping copy is moved at a time.
const shiftBytes = 1 << 20

// shift copies within memory that overlaps, which the driver's copies must
// not, by way of a scratch block, from the end that is overwritten last.
func (c copying) shift(q cu.Stream) error {
	step := min(c.n, shiftBytes)
	scratch, err := cu.MemAlloc(int64(step))
	if err != nil {
		return err
	}
	defer cu.MemFree(scratch)
	for done := 0; done < c.n && err == nil; done += step {
		n := min(step, c.n-done)
		at := cu.DevicePtr(done)
		if c.dst.addr > c.src.addr {
			at = cu.DevicePtr(c.n - done - n)
		}
		if err = cu.MemcpyAsync(scratch, c.src.addr+at, int64(n), q); err == nil {
			err = cu.MemcpyAsync(c.dst.addr+at, scratch, int64(n), q)
		}
	}
	if sync := q.Synchronize(); err == nil {
		err = sync
	}
	return err
}

// Copy makes the copy in a queue of its own, so that those of several
// goroutines do not wait for each other.
func (m *memory) Copy(dst, src device.Block) error {
	if err := m.Usable(); err != nil {
		return err
	}
	c, err := m.plan(dst, src)
	if err != nil || c.n == 0 {
		return err
	}
	q, err := m.queue()
	if err != nil {
		return err
	}
	defer push(m.gpu, &m.queues, q)
	err = m.do(func() error {
		if err := c.enqueue(q); err != nil {
			return err
		}
		return q.Synchronize()
	})
	if err != nil {
		return fmt.Errorf("cuda: copy of %d bytes on %s: %w", c.n, m.Name(), err)
	}
	return nil
}

// fill puts the filling of a block into q.
func (g *gpu) fill(dst device.Block, value byte, q cu.Stream) error {
	if err := device.CheckBlock(dst); err != nil || dst.Len == 0 {
		return err
	}
	p, err := g.locate(dst)
	if err != nil {
		return err
	}
	if p.addr != 0 {
		return g.do(func() error { return cu.MemsetD8Async(p.addr, value, int64(dst.Len), q) })
	}
	if err := g.do(q.Synchronize); err != nil {
		return err
	}
	device.Fill(p.host, value)
	return nil
}
