package guard

import (
	"runtime"
	"slices"
	"time"
	"unsafe"
	"weak"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/poison"
)

// A block is one of a Guard's. Its fields are set before it is shared, but for looks, which
// Guard.mu guards.
type block struct {
	device.Block
	footprint     int64 // bytes that it takes of the upstream
	got, released []uintptr

	closed bool               // its pages are inaccessible
	view   weak.Pointer[byte] // of a block that the collector watches: nil when no view is left
	since  int64              // collections before it was withheld
	at     time.Time          // of that
	told   bool               // that a view has outlived it
}

// A Fault is a use after Release.
type Fault struct {
	Len           int       // of the block
	Off           int       // of the first byte that was written or touched
	View          bool      // nothing was written, but something still reaches the memory
	Got, Released []uintptr // stacks of the Get and the Release
}

// depth is how many calls of a stack are kept.
const depth = 32

// Callers returns the stack of its caller.
func Callers() []uintptr {
	var pc [depth]uintptr
	return slices.Clone(pc[:runtime.Callers(2, pc[:])])
}

// seal makes a use of the block show, now that it was released. own says that the block is
// a region of its own.
func (k *block) seal(own bool) {
	if r, ok := k.Region.(device.Quarantiner); ok && own {
		k.closed = r.Quarantine(0, k.Region.Size()) == nil
	}
	if k.closed {
		return
	}
	m := device.Bytes(k.Block)
	device.Fill(m, poison.Freed)
	if r, ok := k.Region.(device.Collected); ok && own {
		k.view = weak.Make(unsafe.SliceData(m))
		r.Loosen()
	}
}

// isWatched reports whether the collector tells when no view of the block is left.
func (k *block) isWatched() bool { return k.view != (weak.Pointer[byte]{}) }

// isFound reports whether the collector has found that no view of the block is left, and its
// region has not taken the memory back yet.
func (k *block) isFound() bool { return k.isWatched() && device.Bytes(k.Block) == nil }

// written returns the offset of the first byte that is not as seal has left it.
func (k *block) written() (off int, ok bool) {
	if k.closed {
		return 0, false
	}
	off = poison.Unlike(device.Bytes(k.Block), poison.Freed) // none of a block that is found
	return off, off >= 0
}

func (k *block) fault(off int) Fault {
	return Fault{Len: k.Len, Off: off, Got: k.got, Released: k.released}
}

// holds reports whether addr is in the pages of the block.
func (k *block) holds(addr uintptr) (off int, ok bool) {
	r, ok := k.Region.(device.HostRegion)
	if !ok || !k.closed {
		return 0, false
	}
	m := r.Bytes()
	at := uintptr(unsafe.Pointer(unsafe.SliceData(m)))
	return int(addr - at), addr-at < uintptr(len(m))
}
