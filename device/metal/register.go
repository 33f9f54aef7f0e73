package metal

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// registered holds all regions of Register until they are freed. Metal uses the memory of one that
// was forgotten, so it must not become anything else.
var registered sync.Map

// Register returns m as a block that the GPU reaches, so that streams copy from it without waiting. The
// block shares the bytes of m. Free of d ends that; until then m is neither collected nor moved, even if the block is
// forgotten. It works on a closed device's Free, too.
//
// m begins at a page and has whole pages, of 16 KiB on Apple silicon: a pool of
// "device=mmap,strategy=exact" gives that for such sizes. Else the error wraps [device.ErrSize]. It wraps
// [device.ErrUnavailable] where Metal refuses, as it does where the GPU has memory of its own.
func (d *Device) Register(m []byte) (device.Block, error) {
	if err := d.usable(); err != nil {
		return device.Block{}, err
	}
	page := os.Getpagesize()
	if len(m) == 0 || len(m)%page != 0 || !aligned(m, page) {
		return device.Block{}, fmt.Errorf("metal: register of %d bytes at %p on %s, where whole pages of %d can be had: %w",
			len(m), m, d.base.Name(), page, device.ErrSize)
	}
	at := unsafe.Pointer(unsafe.SliceData(m))
	var pin runtime.Pinner
	pin.Pin((*byte)(at))
	obj := d.hw.ask(d.hw.gpu, selNewWithoutCopy, uintptr(at), uintptr(len(m)), storageShared, 0)
	if obj == 0 {
		pin.Unpin()
		return device.Block{}, isNil(selNewWithoutCopy, "%d bytes on %s", len(m), d.base.Name())
	}
	b := d.block(obj, len(m), m[:len(m):len(m)])
	r := b.Region.(*Buffer)
	r.gone = func() {
		registered.Delete(r)
		pin.Unpin()
	}
	registered.Store(r, nil)
	return b, nil
}

// aligned reports whether m begins at a multiple of page.
func aligned(m []byte, page int) bool {
	return uintptr(unsafe.Pointer(unsafe.SliceData(m)))%uintptr(page) == 0
}
