package unified

import (
	"reflect"
	"runtime"
	"sync"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// An array is memory on two sides and a residency. A buffer and its views are
// handles of it. Its lock is held for the length of an access.
type array struct {
	mu      sync.Mutex
	mem     *memory
	keeper  keeper // nil if none keeps the array when it is released
	kind    kind   // by which it is kept
	pinned  bool
	n, elem int // elements, bytes of one
	res     residency
	uses    []use
	sides   [2]store
	leases  int // active ones: more than one after Ref.Get
}

// A store is the memory of a side, from the first access that hands it out.
type store struct {
	buf   slab.PooledBuffer
	has   bool
	watch runtime.Cleanup // of device memory
}

// release gives the memory back. The pool keeps it until work that uses it is
// done.
func (m *store) release(d side) {
	if !m.has {
		return
	}
	if d == onDevice {
		m.watch.Stop()
	}
	buf := m.buf
	*m = store{}      // first, as Release may panic
	_ = buf.Release() // exactly once, as m.has was set
}

// place returns the side whose memory side d uses: the device's, where CPU and device share memory.
func (a *array) place(d side) side {
	if a.mem.shared {
		return onDevice
	}
	return d
}

func newArray(m *memory, n, elem int, pinned bool) *array {
	a := &array{mem: m, pinned: pinned, n: n, elem: elem}
	if elem > 0 { // elements of size 0 need no memory
		a.res = newResidency(n)
	}
	return a
}

// block returns the memory of some elements of a side that has memory.
func (a *array) block(d side, lo, hi int) device.Block {
	b := a.sides[a.place(d)].buf.Block()
	if b.Region == nil || lo == hi {
		return device.Block{}
	}
	return device.Block{Region: b.Region, Off: b.Off + lo*a.elem, Len: (hi - lo) * a.elem}
}

// base returns where the host side begins.
func (a *array) base() unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(a.sides[a.place(host)].buf.Bytes()))
}

// bytes returns the size of all elements on one side.
func (a *array) bytes() int64 { return int64(a.n) * int64(a.elem) }

// free gives the memory of both sides back to its pools, the device's also if the
// pool of the host panics. All leases of the array are over.
func (a *array) free() {
	a.uses, a.res = nil, residency{}
	defer a.sides[onDevice].release(onDevice)
	a.sides[host].release(host)
}

// A keeper keeps released arrays for the next Acquire.
type keeper interface{ release(a *array) }

// A kind has the properties that a request and a kept buffer must share.
type kind struct {
	elem   reflect.Type
	shape  string
	pinned bool
}
