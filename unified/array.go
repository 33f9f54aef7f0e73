package unified

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// An array is memory on two sides and a residency. A buffer and its views are
// handles of it. Its lock is held for the length of an access.
type array struct {
	mu      sync.Mutex
	mem     *memory
	pool    *pool // that keeps the array, by its kind, when it is released; nil if none does
	kind    kind
	pinned  bool
	n, elem int // elements, bytes of one
	res     residency
	uses    []use
	sides   [2]store
	leases  int // active ones: more than one after Ref.Get
}

// A side is one of the two places.
type side uint8

const (
	host side = iota
	onDevice
)

func (s side) String() string { return [2]string{"host", "device"}[s] }

func (s side) other() side { return 1 - s }

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

// access takes the actions of the table for the elements from lo to below hi, in
// the calling goroutine or in order on a stream. Until all actions are done or
// enqueued no state changes.
func (a *array) access(lo, hi int, c access, s device.Stream) error {
	if s != nil {
		if err := a.accepts(s); err != nil {
			return err
		}
	}
	steps, err := a.prepare(lo, hi, c, s)
	if err != nil {
		return err
	}
	if lo < hi && (len(steps) > 0 || c.handsOut()) {
		if err := a.provide(c.side(), s); err != nil {
			return err
		}
	}
	for _, x := range steps {
		if err := a.take(x, c.side(), s); err != nil {
			return err
		}
	}
	a.res.grant(lo, hi, c)
	a.res.limit(a.unsettled)
	return nil
}

// accepts refuses a stream that is closed, or that cannot work on the device side. A device side without memory
// gets it by slab.Pool.GetOn, which refuses, too.
func (a *array) accepts(s device.Stream) error {
	var b device.Block
	if m := &a.sides[onDevice]; m.has {
		b = m.buf.Block()
	}
	if err := device.Accepts(s, b); err != nil {
		return fmt.Errorf("unified: a stream for a buffer of %s: %w", a.mem.dev.Name(), err)
	}
	return nil
}

// prepare plans an access and waits for work that is in its way. When work that
// counted as done turns out to have failed, the plan is made anew.
func (a *array) prepare(lo, hi int, c access, s device.Stream) (steps []step, err error) {
	a.prune()
	for again := true; again; {
		if steps, err = a.res.plan(lo, hi, c, a.slack()); err != nil {
			return nil, err
		}
		if again, err = a.awaitAccess(lo, hi, c, steps, s); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// slack returns the number of elements that are cheaper to copy than another call.
func (a *array) slack() int {
	if len(a.res.ranges) < 3 {
		return 0 // there is nothing between two ranges
	}
	return a.mem.callBytes() / max(a.elem, 1)
}

// handsOut reports whether the caller gets memory.
func (c access) handsOut() bool {
	return c != syncHost && c != markHost && c != syncDevice && c != markDevice
}

// take takes a step of an access of side to.
func (a *array) take(x step, to side, s device.Stream) error {
	switch {
	case x.do == pull && a.mem.shared:
		a.mem.uncopied.add((x.hi - x.lo) * a.elem)
		return nil
	case s != nil:
		return a.enqueue(x, to, s)
	case x.do == pull:
		return a.mem.dev.Copy(a.block(to, x.lo, x.hi), a.block(to.other(), x.lo, x.hi))
	case to == host || a.mem.shared:
		clear(device.Bytes(a.block(to, x.lo, x.hi)))
		return nil
	}
	return a.zeroDevice(x)
}

// zeroDevice needs a stream, as a device has no Fill of its own.
func (a *array) zeroDevice(x step) error {
	s, err := a.mem.dev.NewStream()
	if err != nil {
		return err
	}
	if err = s.Fill(a.block(onDevice, x.lo, x.hi), 0); err == nil {
		err = s.Sync()
	}
	return errors.Join(err, s.Close())
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
