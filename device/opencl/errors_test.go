package opencl

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
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
	for name, n := range map[string]*int{
		"CreateBuffer": &l.mems, "SVMAlloc": &l.svms, "CreateCommandQueue": &l.queues, "CreateContext": &l.contexts,
	} {
		wrap(a, func(call func() []reflect.Value, _ []reflect.Value) []reflect.Value {
			r := call()
			if !r[0].IsZero() {
				*n++
			}
			return r
		}, name)
	}
	for name, n := range map[string]*int{
		"ReleaseMemObject": &l.mems, "SVMFree": &l.svms, "ReleaseCommandQueue": &l.queues, "ReleaseContext": &l.contexts,
	} {
		wrap(a, func(call func() []reflect.Value, _ []reflect.Value) []reflect.Value {
			*n--
			return call()
		}, name)
	}
}

// Whatever call of an Alloc fails, and with whatever code, the error says what
// it means, nothing stays behind, and the next Alloc works unless the device is lost.
func TestAllocFails(t *testing.T) {
	calls := map[string][]string{
		"":         {"CreateBuffer", "EnqueueMigrate", "migration"},
		"deferred": {"CreateBuffer"},
		"svm":      {"SVMAlloc", "EnqueueSVMMap"},
		"svm-fine": {"SVMAlloc"},
		"pinned":   {"CreateBuffer", "EnqueueMapBuffer", "mapped"},
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
	if call == "SVMAlloc" || call == "mapped" {
		k, want = failedAlloc, device.ErrOutOfMemory // there is no code, only nil
	}
	before := l
	f.call = call
	b, err := d.Alloc(1000)
	f.call = ""
	check.Wraps(t, err, want)
	if b != (device.Block{}) || !strings.Contains(err.Error(), "1000 bytes") {
		t.Errorf("%+v, %v", b, err)
	}
	if l != before || (d.room().Total-d.room().Free()) != 0 {
		t.Errorf("%+v stay behind, and %d bytes; there were %+v", l, inUse(d), before)
	}
	if errors.Is(want, device.ErrDeviceLost) {
		check.Wraps(t, check.Err(d.Alloc(1)), device.ErrDeviceLost)
		return
	}
	d.Free(devcheck.Alloc(t, d, 1000))
}

// A failure makes one call fail while it is set: a function of the driver, or
// "migration", which EnqueueMigrate has enqueued, or "mapped", where the driver
// breaks its word and says that it has mapped what it has not.
type failure struct {
	call string
	code code
	late eventID // what the migration is to fail at
}

func (f *failure) arm(a *api) {
	for _, name := range []string{"CreateBuffer", "EnqueueMigrate", "SVMAlloc", "EnqueueSVMMap", "EnqueueMapBuffer"} {
		fails(a, func() code {
			if f.call == name {
				return f.code
			}
			return succeeded
		}, name)
	}
	real := *a
	a.EnqueueMigrate = func(q queueID, mems uint32, m *memID, flags uint64, n uint32, after, done *eventID) code {
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
	a.EnqueueMapBuffer = func(q queueID, m memID, wait uint32, flags uint64, off, size uintptr, n uint32, after, done *eventID, err *code) unsafe.Pointer {
		if f.call == "mapped" {
			*err = succeeded
			return nil
		}
		return real.EnqueueMapBuffer(q, m, wait, flags, off, size, n, after, done, err)
	}
}
