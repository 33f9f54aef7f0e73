package opencl

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// Every code is exactly one of the three, and its text has name and number.
func TestEveryCodeMeansSomething(t *testing.T) {
	for k := code(-1200); k < 0; k++ {
		err := failed(k, "clSomething", "%d bytes", 12)
		n := 0
		for _, sentinel := range []error{device.ErrOutOfMemory, device.ErrUnavailable, device.ErrDeviceLost} {
			if errors.Is(err, sentinel) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%v wraps %d of three", err, n)
		}
	}
	err := failed(-4, "clCreateBuffer", "%d bytes", 12)
	if got := err.Error(); got != "opencl: clCreateBuffer of 12 bytes: CL_MEM_OBJECT_ALLOCATION_FAILURE (-4): out of memory" {
		t.Error(got)
	}
	var e *Error
	if !errors.As(err, &e) || e.Code != -4 || e.Call != "clCreateBuffer" {
		t.Errorf("%+v", e)
	}
	if failed(succeeded, "clCreateBuffer", "") != nil {
		t.Error("success is an error")
	}
}

// A ledger counts what is made and given back, so that nothing is lost on the way out.
type ledger struct{ mems, svms, queues, contexts int }

// watch counts what the functions of a make and give back.
func (l *ledger) watch(a *api) {
	real := *a
	a.CreateBuffer = func(c contextID, flags uint64, size uintptr, host unsafe.Pointer, err *code) memID {
		m := real.CreateBuffer(c, flags, size, host, err)
		if m != 0 {
			l.mems++
		}
		return m
	}
	a.ReleaseMemObject = func(m memID) code { l.mems--; return real.ReleaseMemObject(m) }
	a.SVMAlloc = func(c contextID, flags uint64, size uintptr, align uint32) unsafe.Pointer {
		p := real.SVMAlloc(c, flags, size, align)
		if p != nil {
			l.svms++
		}
		return p
	}
	a.SVMFree = func(c contextID, p unsafe.Pointer) { l.svms--; real.SVMFree(c, p) }
	a.CreateCommandQueue = func(c contextID, d deviceID, properties uint64, err *code) queueID {
		q := real.CreateCommandQueue(c, d, properties, err)
		if q != 0 {
			l.queues++
		}
		return q
	}
	a.ReleaseCommandQueue = func(q queueID) code { l.queues--; return real.ReleaseCommandQueue(q) }
	a.CreateContext = func(p *uintptr, n uint32, ids *deviceID, notify, user uintptr, err *code) contextID {
		c := real.CreateContext(p, n, ids, notify, user, err)
		if c != 0 {
			l.contexts++
		}
		return c
	}
	a.ReleaseContext = func(c contextID) code { l.contexts--; return real.ReleaseContext(c) }
}

// Whatever call of an Alloc fails, and with whatever code, the error says what
// it means, nothing stays behind, and the next Alloc works unless the device is lost.
func TestAllocFails(t *testing.T) {
	calls := map[string][]string{
		"":         {"create", "migrate", "migration"},
		"deferred": {"create"},
		"svm":      {"svm", "svmmap"},
		"svm-fine": {"svm"},
		"pinned":   {"create", "map", "mapped"},
	}
	for form, list := range calls {
		for _, call := range list {
			for k, want := range map[code]error{
				-4: device.ErrOutOfMemory, -5: device.ErrOutOfMemory, -6: device.ErrOutOfMemory, -61: device.ErrOutOfMemory,
				-30: device.ErrUnavailable, -777: device.ErrUnavailable,
				-36: device.ErrDeviceLost, -9999: device.ErrDeviceLost,
			} {
				t.Run(form+","+call+","+nameOf(k), func(t *testing.T) { allocFails(t, form, call, k, want) })
			}
		}
	}
}

func allocFails(t *testing.T, form, call string, k code, want error) {
	var l ledger
	f := failure{code: k}
	d := opened(t, form, func(a *api) { l.watch(a); f.arm(a) })
	if call == "svm" || call == "mapped" {
		k, want = failedAlloc, device.ErrOutOfMemory // there is no code, only nil
	}
	before := l
	f.call = call
	b, err := d.Alloc(1000)
	f.call = ""
	wants(t, err, want)
	if b != (device.Block{}) || !strings.Contains(err.Error(), "1000 bytes") {
		t.Errorf("%+v, %v", b, err)
	}
	if l != before || d.room().used.Load() != 0 {
		t.Errorf("%+v stay behind, and %d bytes; there were %+v", l, d.room().used.Load(), before)
	}
	if errors.Is(want, device.ErrDeviceLost) {
		_, err := d.Alloc(1)
		wants(t, err, device.ErrDeviceLost)
		return
	}
	d.Free(mustAlloc(t, d, 1000))
}

// A failure makes one call fail while it is set.
type failure struct {
	call string
	code code
	late eventID // what the migration is to fail at
}

func (f *failure) arm(a *api) {
	real := *a
	a.CreateBuffer = func(c contextID, flags uint64, size uintptr, host unsafe.Pointer, err *code) memID {
		if f.call == "create" {
			*err = f.code
			return 0
		}
		return real.CreateBuffer(c, flags, size, host, err)
	}
	a.EnqueueMigrate = func(q queueID, mems uint32, m *memID, flags uint64, n uint32, after, done *eventID) code {
		if f.call == "migrate" {
			return f.code
		}
		k := real.EnqueueMigrate(q, mems, m, flags, n, after, done)
		if f.call == "migration" {
			f.late = *done
		}
		return k
	}
	a.WaitForEvents = func(n uint32, events *eventID) code {
		k := real.WaitForEvents(n, events)
		if *events == f.late {
			return failedInWait
		}
		return k
	}
	a.GetEventInfo = func(e eventID, what uint32, room uintptr, value unsafe.Pointer, size *uintptr) code {
		k := real.GetEventInfo(e, what, room, value, size)
		if e == f.late {
			*(*int32)(value), f.late = int32(f.code), 0
		}
		return k
	}
	a.SVMAlloc = func(c contextID, flags uint64, size uintptr, align uint32) unsafe.Pointer {
		if f.call == "svm" {
			return nil
		}
		return real.SVMAlloc(c, flags, size, align)
	}
	a.EnqueueSVMMap = func(q queueID, wait uint32, flags uint64, p unsafe.Pointer, size uintptr, n uint32, after, done *eventID) code {
		if f.call == "svmmap" {
			return f.code
		}
		return real.EnqueueSVMMap(q, wait, flags, p, size, n, after, done)
	}
	a.EnqueueMapBuffer = func(q queueID, m memID, wait uint32, flags uint64, off, size uintptr, n uint32, after, done *eventID, err *code) unsafe.Pointer {
		switch f.call {
		case "map":
			*err = f.code
			return nil
		case "mapped": // as a driver that breaks its word
			*err = succeeded
			return nil
		}
		return real.EnqueueMapBuffer(q, m, wait, flags, off, size, n, after, done, err)
	}
}
