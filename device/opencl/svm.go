package opencl

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// An SVM is the region of opencl:N:svm and opencl:N:svm-fine: memory that CPU
// and device reach at the same address. [device.Bytes] returns it.
//
// Both may use fine-grained memory at any time. Coarse-grained memory belongs
// either to the CPU or to the device, and to the CPU when it is allocated. As
// long as it does, the CPU makes fills and copies among such regions too: a
// stream waits for its earlier work and then does them at once. [SVM.Unmap] gives
// a whole region to the device, for a kernel, and [SVM.Map] gives it back to the
// CPU. So a pool of blocks that kernels use should have whole regions: strategy
// exact or bitlog.
type SVM struct {
	region
	p    unsafe.Pointer // what the driver has allocated
	skip int            // of its bytes, for alignment
	mu   sync.Mutex     // of changes of hands
	lent atomic.Bool    // unmapped
}

func newCoarse(d *Device, size int) (device.Region, error) {
	p, err := d.allocSVM(size, d.flags)
	if err != nil {
		return nil, err
	}
	c := d.ctx
	k := c.EnqueueSVMMap(c.queue, 1, mapReadWrite, p, uintptr(size), 0, nil, nil)
	if err := c.failed(k, "clEnqueueSVMMap", "%d bytes on %s", size, d.base.Name()); err != nil {
		c.SVMFree(c.id, p)
		return nil, err
	}
	s := &SVM{p: p}
	s.init(d, size, func() { s.unmake() })
	return s, nil
}

func newFine(d *Device, size int) (device.Region, error) {
	p, err := d.allocSVM(size, d.flags|memSVMFine)
	if err != nil {
		return nil, err
	}
	s := &SVM{region: region{fine: true}, p: p}
	s.init(d, size, func() { s.unmake() })
	return s, nil
}

// allocSVM is clSVMAlloc, which has no code to fail with, only nil.
func (d *Device) allocSVM(size int, flags MemFlags) (unsafe.Pointer, error) {
	p := d.ctx.SVMAlloc(d.ctx.id, uint64(flags), uintptr(size), 0)
	if p == nil {
		return nil, failed(failedAlloc, "clSVMAlloc", "%d bytes on %s", size, d.base.Name())
	}
	return p, nil
}

// unmake takes the memory from the CPU, so that the driver is done with it
// before it goes: clSVMFree waits for nothing.
func (s *SVM) unmake() {
	c := s.dev.ctx
	if !s.fine && !s.lent.Load() {
		var done eventID
		if c.EnqueueSVMUnmap(c.queue, s.p, 0, nil, &done) == succeeded {
			c.finish(done)
		}
	}
	c.SVMFree(c.id, s.p)
}

func (s *SVM) cut(size, align int) {
	s.skip = skipped(s.Bytes(), align)
	s.resize(size)
}

// Bytes returns the memory, or nil while the device has it or when it is freed.
func (s *SVM) Bytes() []byte {
	if s.life.Freed() || s.lent.Load() {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Add(s.p, s.skip)), s.size)
}

// Pointer returns the address of the region, for a kernel's arguments. A block
// begins Off bytes behind it.
func (s *SVM) Pointer() uintptr { return uintptr(s.p) + uintptr(s.skip) }

// Unmap gives a coarse region to the device: only work that is enqueued on t from
// now on may use it, until Map. Until then copies and fills of it fail with
// ErrUnavailable. Unmap does nothing where the region is fine or the device has
// it already. The error wraps [device.ErrUnavailable] when the region is freed
// or t is not a stream of its hardware.
func (s *SVM) Unmap(t device.Stream) error {
	return s.pass(t, true, func(q queueID, wait []eventID, done *eventID) (code, string) {
		n, list := after(wait)
		return s.dev.ctx.EnqueueSVMUnmap(q, s.p, n, list, done), "clEnqueueSVMUnmap"
	})
}

// Map waits for all earlier work of t and gives a coarse region back to the CPU.
// In all else it is like Unmap.
func (s *SVM) Map(t device.Stream) error {
	return s.pass(t, false, func(q queueID, wait []eventID, done *eventID) (code, string) {
		n, list := after(wait)
		return s.dev.ctx.EnqueueSVMMap(q, 0, mapReadWrite, s.p, uintptr(s.size+s.more), n, list,
			done), "clEnqueueSVMMap"
	})
}

// pass enqueues a change of hands and notes it: to the device at once, to the
// CPU when it has happened.
func (s *SVM) pass(t device.Stream, lend bool, change command) error {
	q, ok := t.(*Stream)
	if !ok || q.ctx != s.dev.ctx {
		return fmt.Errorf("opencl: a %T is no stream of %s: %w", t, s.dev.base.Name(), device.ErrUnavailable)
	}
	if err := s.hold(); err != nil {
		return err
	}
	defer s.drop()
	if s.fine {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return q.do(func() error {
		if s.lent.Load() == lend {
			return nil
		}
		_, err := q.add(change, nil, false, "%d bytes on %s", s.size, s.dev.base.Name())
		if err == nil && !lend {
			err = q.drain()
		}
		if err == nil {
			s.lent.Store(lend)
		}
		return err
	})
}
