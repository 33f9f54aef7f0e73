package opencl

import (
	"fmt"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/base"
)

// A region is what the regions of all forms have in common. Its memory goes
// when its life is over.
type region struct {
	dev  *Device
	size int
	more int    // bytes that it takes beyond size, so that it is aligned
	mem  memID  // of a buffer, else 0
	fine bool   // queues reach it by the CPU's address
	free func() // gives the memory back to the driver
	life base.Life
}

// owned is implemented by the regions of this package.
type owned interface {
	device.Region
	base() *region
}

func (r *region) base() *region { return r }

// Size returns the bytes asked for.
func (r *region) Size() int { return r.size }

// init makes r one that is out.
func (r *region) init(d *Device, size int, free func()) {
	r.dev, r.size, r.free = d, size, free
	r.life.Begin()
	d.ctx.retain()
}

// hold keeps the memory until drop, or says that it is freed.
func (r *region) hold() error {
	if r.life.Hold() {
		return nil
	}
	return fmt.Errorf("opencl: a freed region of %d bytes on %s: %w", r.size, r.dev.base.Name(), device.ErrUnavailable)
}

func (r *region) drop() {
	if !r.life.Drop() {
		return
	}
	r.free()
	r.dev.give(r.size + r.more)
	r.dev.ctx.release()
}

// room is where the regions of a device are. OpenCL does not count what they
// take, and drivers that promise more than there is end the process when it is
// used. So a budget counts it, for all devices on one memory.
func (d *Device) room() *base.Budget {
	if d.form.host {
		return &d.ctx.host
	}
	return &d.ctx.memory
}

// take counts a region, or says why there is no room for it.
func (d *Device) take(size int) error {
	if most := d.ctx.MaxBytes; int64(size) > most {
		return fmt.Errorf("opencl: %d bytes asked of %s, whose regions have %d at most: %w", size, d.base.Name(), most,
			device.ErrOutOfMemory)
	}
	if r := d.room(); !r.Take(int64(size)) {
		return fmt.Errorf("opencl: %d bytes asked of %s, which has %d of %d left: %w", size, d.base.Name(), r.Free(),
			r.Total, device.ErrOutOfMemory)
	}
	return nil
}

func (d *Device) give(size int) { d.room().Give(int64(size)) }

// Alloc returns a region of exactly size bytes. It refuses more bytes than
// MemInfo says are free, and a region above Info.MaxBytes.
func (d *Device) Alloc(size int) (device.Block, error) {
	if err := d.base.CheckAlloc(size); err != nil {
		return device.Block{}, err
	}
	if err := d.begin(); err != nil {
		return device.Block{}, err
	}
	defer d.ctx.release()
	if size == 0 {
		return device.Block{}, nil
	}
	if err := d.take(size); err != nil {
		return device.Block{}, err
	}
	r, err := d.form.make(d, size)
	if err != nil {
		d.give(size)
		return device.Block{}, err
	}
	return device.Block{Region: r, Len: size}, nil
}

// A hosted region has memory that the CPU reaches.
type hosted interface {
	owned
	device.HostRegion
	// cut leaves the region size bytes from the first multiple of align on. Nothing uses it yet.
	cut(size, align int)
}

// AllocAligned is Alloc of memory at a multiple of align, a power of two, where the CPU reaches it. Drivers align to
// what their types need, some 128 bytes.
func (d *Device) AllocAligned(size, align int) (device.Block, error) {
	b, err := d.Alloc(size)
	if m := device.Bytes(b); err != nil || m == nil || skipped(m, align) == 0 {
		return b, err
	}
	d.Free(b)
	if b, err = d.Alloc(size + align - 1); err != nil {
		return b, err
	}
	b.Region.(hosted).cut(size, align)
	b.Len = size
	return b, nil
}

// skipped is the number of bytes before the first multiple of align.
func skipped(m []byte, align int) int {
	return int(-uintptr(unsafe.Pointer(unsafe.SliceData(m))) & uintptr(align-1))
}

// resize makes the region size bytes long, of which it takes as many as before.
func (r *region) resize(size int) { r.size, r.more = size, r.size-size }

// Free works on a lost and on a closed device too. It does not report errors of
// the driver; a loss shows at the next call.
func (d *Device) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	r, ok := b.Region.(owned)
	if !ok || r.base().dev != d || b.Off != 0 || b.Len != r.Size() || !r.base().life.End() {
		d.base.BadFree(b.Len, b.Off)
	}
	r.base().drop()
}

// MemInfo returns the memory of the device, or of the machine for pinned memory,
// less what this process has allocated. OpenCL does not tell what other programs
// have allocated.
func (d *Device) MemInfo() (free, total int64, err error) {
	if err := d.usable(); err != nil {
		return 0, 0, err
	}
	return d.room().Free(), d.room().Total, nil
}
