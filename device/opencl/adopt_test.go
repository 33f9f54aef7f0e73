package opencl

import (
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/devicetest"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
)

// A caller has a context and a queue from elsewhere, on the first of doubles.
type caller struct {
	found   []*hardware
	context uintptr
	queue   uintptr
	refs    references
}

// references count what is retained and made less what is released. What is not in
// use any more is released by another goroutine.
type references struct{ contexts, queues int64 }

// now returns the counts as they are.
func (r *references) now() references {
	return references{atomic.LoadInt64(&r.contexts), atomic.LoadInt64(&r.queues)}
}

func (r *references) watch(a *api) {
	for name, c := range map[string]struct {
		n  *int64
		by int64
	}{
		"RetainContext": {&r.contexts, 1}, "CreateContext": {&r.contexts, 1}, "ReleaseContext": {&r.contexts, -1},
		"RetainCommandQueue": {&r.queues, 1}, "CreateCommandQueue": {&r.queues, 1}, "ReleaseCommandQueue": {&r.queues, -1},
	} {
		wrap(a, func(call func() []reflect.Value, _ []reflect.Value) []reflect.Value {
			out := call()
			if made := out[0].Type() != reflect.TypeFor[code](); made != out[0].IsZero() { // a handle, or no error
				atomic.AddInt64(c.n, c.by)
			}
			return out
		}, name)
	}
}

// newCaller also has functions changed, beneath those that count.
func newCaller(t *testing.T, change func(*api)) *caller {
	t.Helper()
	c := &caller{}
	c.found = doubles(t, func(a *api) { change(a); c.refs.watch(a) })
	c.context = newContext(t, c.found[0])
	c.queue = newQueue(t, c.found[0], c.context)
	return c
}

func newContext(t *testing.T, h *hardware) uintptr {
	t.Helper()
	var k code
	properties := [...]uintptr{contextPlatform, uintptr(h.platform), 0}
	id := h.CreateContext(&properties[0], 1, &h.id, 0, 0, &k)
	check.Must(t, failed(k, "clCreateContext", "a test"))
	t.Cleanup(func() { h.ReleaseContext(id) })
	return uintptr(id)
}

func newQueue(t *testing.T, h *hardware, context uintptr) uintptr {
	t.Helper()
	var k code
	q := h.CreateCommandQueue(contextID(context), h.id, 0, &k)
	check.Must(t, failed(k, "clCreateCommandQueue", "a test"))
	t.Cleanup(func() { h.ReleaseCommandQueue(q) })
	return uintptr(q)
}

// A device in the caller's context works like one that Open returns.
func TestConformanceInACallersContext(t *testing.T) {
	c := newCaller(t, unchanged)
	for _, o := range []Options{{Context: c.context}, {Queue: c.queue}, {Context: c.context, Form: "deferred"}, {Context: c.context, Form: "svm", Flags: ReadWrite}, {Context: c.context, Flags: AllocHostPtr | ReadWrite}} {
		devicetest.Run(t, func() (device.Device, error) { return adopt(c.found, o) })
	}
}

// The context is the caller's, and so is the queue. They are retained until nothing of the device
// is left.
func TestNewRetainsTheContext(t *testing.T) {
	c := newCaller(t, unchanged)
	before := c.refs.now()
	for _, o := range []Options{
		{Context: c.context},
		{Context: c.context, Device: uintptr(c.found[0].id)},
		{Context: c.context, Queue: c.queue},
		{Queue: c.queue},
	} {
		d := check.Ok(adopt(c.found, o))(t)
		if _, id, context := d.Handles(); context != c.context || id != uintptr(c.found[0].id) {
			t.Errorf("%+v: context %#x and device %#x", o, context, id)
		}
		if o.Queue != 0 && uintptr(d.ctx.queue) != c.queue {
			t.Errorf("%+v: queue %#x", o, d.ctx.queue)
		}
		if c.refs.now().contexts != before.contexts+1 || c.refs.now().queues != before.queues+1 {
			t.Errorf("%+v: %+v references, %+v before", o, c.refs.now(), before)
		}
		b := devcheck.Alloc(t, d, 100)
		check.Must(t, d.Copy(b, device.Host(make([]byte, 100))), d.Close())
		if c.refs.now().contexts != before.contexts+1 {
			t.Error("the context went before its memory")
		}
		d.Free(b)
		if c.refs.now() != before {
			t.Errorf("%+v: %+v references stay behind, %+v before", o, c.refs.now(), before)
		}
	}
}

// The name is that which Open takes for the hardware and the form.
func TestNewHasANameForOpen(t *testing.T) {
	c := newCaller(t, unchanged)
	for form, want := range map[string]string{"": "opencl:0", "deferred": "opencl:0:deferred"} {
		d := check.Ok(adopt(c.found, Options{Context: c.context, Form: form}))(t)
		if d.Name() != want || d.pinned.Name() != want+":pinned" {
			t.Errorf("form %q: %s, %s", form, d.Name(), d.pinned.Name())
		}
		check.Must(t, d.Close())
	}
}

// The host has what its flag leaves it, and the driver refuses the rest.
func TestHostFlagsForbid(t *testing.T) {
	c := newCaller(t, unchanged)
	for flags, can := range map[MemFlags]struct{ write, read bool }{
		0: {true, true}, HostWriteOnly: {write: true}, HostReadOnly: {read: true}, HostNoAccess: {},
	} {
		d := check.Ok(adopt(c.found, Options{Context: c.context, Flags: flags}))(t)
		b, host := devcheck.Alloc(t, d, 100), device.Host(make([]byte, 100))
		for what, x := range map[string]struct {
			err error
			can bool
		}{"write": {d.Copy(b, host), can.write}, "read": {d.Copy(host, b), can.read}} {
			if x.can {
				check.Must(t, x.err)
			} else if check.Wraps(t, x.err, device.ErrUnavailable); x.err == nil {
				t.Errorf("flags %#x: a %s", flags, what)
			}
		}
		d.Free(b)
		check.Must(t, d.Close())
	}
}

// Of several devices the first counts, unless another is named. A context without one is refused.
func TestNewInAContextOfSeveralDevices(t *testing.T) {
	var has []deviceID
	c := newCaller(t, func(a *api) {
		a.GetContextInfo = func(_ contextID, _ uint32, room uintptr, value unsafe.Pointer, size *uintptr) code {
			if size != nil {
				*size = uintptr(len(has)) * unsafe.Sizeof(has[0])
			}
			if value != nil {
				copy(unsafe.Slice((*deviceID)(value), room/unsafe.Sizeof(has[0])), has)
			}
			return succeeded
		}
	})
	id := c.found[0].id
	has = []deviceID{id, id + 8}
	check.Must(t, check.Ok(adopt(c.found, Options{Context: c.context}))(t).Close())
	has = []deviceID{id + 8, id}
	check.Must(t, check.Ok(adopt(c.found, Options{Context: c.context, Device: uintptr(id)}))(t).Close())
	has = nil
	var e *OptionsError
	if _, err := adopt(c.found, Options{Context: c.context}); !errors.As(err, &e) || e.Option != "Context" {
		t.Error(err)
	}
}

// The memory is that of the hardware, in any context.
func TestNewSharesTheRoom(t *testing.T) {
	c := newCaller(t, unchanged)
	one, two := check.Ok(openOn(c.found, "0"))(t), check.Ok(adopt(c.found, Options{Context: c.context}))(t)
	defer one.Close()
	defer two.Close()
	b := devcheck.Alloc(t, two, 1000)
	if inUse(one) != 1000 {
		t.Errorf("%d bytes in use", inUse(one))
	}
	back := device.Host(make([]byte, 1000))
	check.Must(t, two.Copy(back, b))
	check.Wraps(t, one.Copy(back, b), device.ErrUnavailable) // another context's
	two.Free(b)
}

// Options that do not fit each other are refused in a sentence, before anything is done.
func TestNewRefuses(t *testing.T) {
	c := newCaller(t, unchanged)
	other := newContext(t, c.found[0])
	before := c.refs.now()
	for _, r := range []struct {
		Options
		option, want string
	}{
		{Options{}, "Context", "is 0"},
		{Options{Device: uintptr(c.found[0].id)}, "Context", "is 0"},
		{Options{Context: c.context, Device: uintptr(c.found[0].id) + 8}, "Device", "none of the 1 of context"},
		{Options{Context: other, Queue: c.queue}, "Queue", "is one of context"},
		{Options{Device: uintptr(c.found[0].id) + 8, Queue: c.queue}, "Queue", "is one of device"},
		{Options{Context: c.context, Form: "pinned"}, "Form", "none of"},
		{Options{Context: c.context, Flags: ReadOnly | WriteOnly}, "Flags", "contradict each other: kernels"},
		{Options{Context: c.context, Flags: ReadWrite | ReadOnly}, "Flags", "contradict each other: kernels"},
		{Options{Context: c.context, Flags: HostNoAccess | HostReadOnly}, "Flags", "contradict each other: the host"},
		{Options{Context: c.context, Flags: 1 << 3}, "Flags", "CL_MEM_USE_HOST_PTR"},
		{Options{Context: c.context, Flags: ReadWrite | 1<<5}, "Flags", "CL_MEM_COPY_HOST_PTR"},
		{Options{Context: c.context, Flags: memSVMFine}, "Flags", "have 0x400"},
		{Options{Context: c.context, Form: "svm", Flags: AllocHostPtr}, "Flags", "more than shared virtual memory has"},
		{Options{Context: c.context, Form: "svm-fine", Flags: HostReadOnly}, "Flags", "more than shared virtual memory has"},
	} {
		d, err := adopt(c.found, r.Options)
		var e *OptionsError
		check.Wraps(t, err, device.ErrUnavailable)
		if !errors.As(err, &e) || e.Option != r.option || !strings.Contains(err.Error(), r.want) || d != nil {
			t.Errorf("%+v: %v, want %s: %s", r.Options, err, r.option, r.want)
		}
	}
	if c.refs.now() != before {
		t.Errorf("%+v references, %+v before", c.refs.now(), before)
	}
	none := newCaller(t, func(a *api) { a.SVMAlloc = nil })
	_, err := adopt(none.found, Options{Context: none.context, Form: "svm"})
	check.Wraps(t, err, device.ErrUnavailable)
}

// New looks at what needs no driver before it asks for one, and needs one else.
func TestNewWithoutADriver(t *testing.T) {
	var e *OptionsError
	if d, err := New(Options{Context: 1, Flags: ReadOnly | WriteOnly}); d != nil || !errors.As(err, &e) {
		t.Errorf("%v, %v", d, err)
	}
	if _, err := system(); err == nil {
		t.Skip("there is a driver")
	}
	d, err := New(Options{Context: 1})
	check.Wraps(t, err, device.ErrUnavailable)
	if d != nil {
		t.Error("a device without a driver")
	}
}

// Buffers, and the parts that kernels get of them, have the flags.
func TestFlagsReachTheDriver(t *testing.T) {
	var made, parts, shared uint64
	c := newCaller(t, func(a *api) {
		for name, flags := range map[string]*uint64{"CreateBuffer": &made, "CreateSubBuffer": &parts, "SVMAlloc": &shared} {
			wrap(a, func(call func() []reflect.Value, args []reflect.Value) []reflect.Value {
				*flags = args[1].Uint()
				return call()
			}, name)
		}
	})
	for given, want := range map[MemFlags]MemFlags{
		0: ReadWrite, ReadOnly: ReadOnly, WriteOnly | HostReadOnly: WriteOnly | HostReadOnly, AllocHostPtr: AllocHostPtr | ReadWrite,
	} {
		for _, form := range []string{"", "deferred"} {
			d := check.Ok(adopt(c.found, Options{Context: c.context, Form: form, Flags: given}))(t)
			b := devcheck.Alloc(t, d, 100)
			s := check.Ok(d.SubBuffer(b))(t)
			if MemFlags(made) != want || MemFlags(parts) != want.kernels() {
				t.Errorf("form %q, flags %#x: buffer %#x, part %#x", form, given, made, parts)
			}
			s.Release()
			d.Free(b)
			p := check.Ok(d.Pinned())(t)
			p.Free(devcheck.Alloc(t, p, 100))
			if MemFlags(made) != ReadWrite|AllocHostPtr {
				t.Errorf("flags %#x: pinned memory has %#x", given, made)
			}
			check.Must(t, d.Close())
		}
	}
	for form, more := range map[string]MemFlags{"svm": 0, "svm-fine": memSVMFine} {
		if f := check.Ok(formOf(form))(t); f.lacks(c.found[0].Info) != "" {
			continue
		}
		for given, want := range map[MemFlags]MemFlags{0: ReadWrite, ReadOnly: ReadOnly} {
			d := check.Ok(adopt(c.found, Options{Context: c.context, Form: form, Flags: given}))(t)
			if d.Free(devcheck.Alloc(t, d, 100)); MemFlags(shared) != want|more {
				t.Errorf("form %q, flags %#x: memory %#x", form, given, shared)
			}
			check.Must(t, d.Close())
		}
	}
}

// A driver that fails meanwhile leaves nothing behind, and the error says that there is no device.
func TestNewFails(t *testing.T) {
	for _, call := range []string{"GetContextInfo", "GetCommandQueueInfo", "RetainContext", "RetainCommandQueue", "CreateCommandQueue"} {
		k := succeeded
		c := newCaller(t, func(a *api) { fails(a, func() code { return k }, call) })
		before := c.refs.now()
		k = -34
		failures := 0
		for _, o := range []Options{{Context: c.context}, {Context: c.context, Queue: c.queue}} {
			if d, err := adopt(c.found, o); err != nil {
				failures++
				check.Wraps(t, err, device.ErrUnavailable)
			} else {
				check.Must(t, d.Close())
			}
		}
		if failures == 0 || c.refs.now() != before {
			t.Errorf("%s: %d failures, %+v references, %+v before", call, failures, c.refs.now(), before)
		}
		k = succeeded
	}
}

// A device that the system does not list, such as a part of one, is described anew.
func TestNewOnADeviceThatIsNotListed(t *testing.T) {
	c := newCaller(t, unchanged)
	listed := []*hardware{{api: c.found[0].api}}
	d := check.Ok(adopt(listed, Options{Context: c.context}))(t)
	if d.Name() != "opencl:sub-device" || d.Info().Device != c.found[0].Info.Device || d.ctx.platform != c.found[0].platform {
		t.Errorf("%s, %v", d.Name(), d.Info())
	}
	d.Free(devcheck.Alloc(t, d, 100))
	check.Must(t, d.Close())
}
