package metal

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/base"
)

// A Buffer is the region of a block: an MTLBuffer. The CPU reaches it where it is not private.
type Buffer struct {
	dev   *Device
	obj   id
	size  int
	asked int    // bytes of the block that Free gets
	host  []byte // nil where it is private
	life  base.Life
	gone  func() // after the buffer; nil where the memory is Metal's
	work  []span // under way, or over; under hardware.book
}

// whole returns n rounded up to pages, which is what a buffer takes.
func whole(n int) int {
	page := os.Getpagesize()
	return (n + page - 1) &^ (page - 1)
}

// Alloc returns a region of whole pages. It refuses more than MemInfo says is free, and a region above
// Info.MaxBytes.
func (d *Device) Alloc(size int) (device.Block, error) {
	if err := d.base.CheckAlloc(size); err != nil {
		return device.Block{}, err
	}
	if err := d.usable(); err != nil || size == 0 {
		return device.Block{}, err
	}
	if err := d.hasRoom(size); err != nil {
		return device.Block{}, err
	}
	obj := d.hw.ask(d.hw.gpu, selNewBuffer, uintptr(whole(size)), d.kind.options)
	if obj == 0 {
		return device.Block{}, isNil(selNewBuffer, "%d bytes on %s", whole(size), d.base.Name())
	}
	var host []byte
	if d.kind != private {
		host = unsafe.Slice((*byte)(pointer(d.hw.tell(obj, selContents))), whole(size))
	}
	return d.block(obj, size, host), nil
}

// block returns the first size bytes of a new region.
func (d *Device) block(obj id, size int, host []byte) device.Block {
	b := &Buffer{dev: d, obj: obj, size: whole(size), asked: size, host: host}
	b.life.Begin()
	return device.Block{Region: b, Len: size}
}

// hasRoom says why there is no room for a region. It counts before it rounds, so that no sum overflows.
func (d *Device) hasRoom(size int) error {
	if most := d.hw.MaxBytes; int64(size) > most {
		return fmt.Errorf("metal: %d bytes asked of %s, whose regions have %d at most: %w", size, d.base.Name(), most,
			device.ErrOutOfMemory)
	}
	if free, total := d.hw.memInfo(); int64(size) > free || int64(whole(size)) > free {
		return fmt.Errorf("metal: %d bytes asked of %s, which has %d of %d left: %w", size, d.base.Name(), free, total,
			device.ErrOutOfMemory)
	}
	return nil
}

// Free works on a lost and on a closed device too. Work that is under way keeps the memory.
func (d *Device) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	r, ok := b.Region.(*Buffer)
	if !ok || r.dev != d || b.Off != 0 || b.Len != r.asked || !r.life.End() {
		d.base.BadFree(b.Len, b.Off)
	}
	r.drop()
}

// Size returns the bytes of the buffer, whole pages.
func (b *Buffer) Size() int { return b.size }

// Bytes returns the memory, or nil where it is private or freed.
func (b *Buffer) Bytes() []byte {
	if b.life.Freed() {
		return nil
	}
	return b.host
}

// Handle returns the id<MTLBuffer>, for a kernel's arguments. A block begins Off bytes into
// it. It is valid until the block is freed.
func (b *Buffer) Handle() uintptr { return uintptr(b.obj) }

// hold keeps the buffer until drop, or says that it is freed.
func (b *Buffer) hold() error {
	if b.life.Hold() {
		return nil
	}
	return fmt.Errorf("metal: a freed region of %d bytes on %s: %w", b.size, b.dev.base.Name(), device.ErrUnavailable)
}

func (b *Buffer) drop() {
	if !b.life.Drop() {
		return
	}
	b.dev.hw.release(b.obj)
	if b.gone != nil {
		b.gone()
	}
}
