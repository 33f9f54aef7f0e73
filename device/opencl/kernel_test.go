//go:build (darwin || (linux && !android)) && (amd64 || arm64)

package opencl

import (
	"encoding/binary"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
)

// Functions that a program has from another binding.
type kernels struct {
	CreateProgramWithSource func(c uintptr, n uint32, text **byte, lengths *uintptr, err *code) uintptr
	BuildProgram            func(p uintptr, n uint32, ids *deviceID, options, notify, user uintptr) code
	CreateKernel            func(p uintptr, name string, err *code) uintptr
	SetKernelArg            func(k uintptr, i uint32, size uintptr, value unsafe.Pointer) code
	SetKernelArgSVMPointer  func(k uintptr, i uint32, p uintptr) code `since:"2.0"`
	EnqueueNDRangeKernel    func(q, k uintptr, dims uint32, off, global, local *uintptr, n uint32, after, done *eventID) code
	CreateUserEvent         func(c contextID, err *code) eventID
	SetUserEventStatus      func(e eventID, status int32) code
}

func extra(t *testing.T) *kernels {
	t.Helper()
	lib, name, err := dlopen(libraries())
	if err != nil {
		t.Skip(err)
	}
	k := new(kernels)
	check.Must(t, bind(lib, name, k))
	return k
}

// adder is a kernel that adds 1000 to every number of a buffer.
func adder(t *testing.T, k *kernels, d *Device) uintptr {
	t.Helper()
	text := append([]byte("kernel void add(global uint *p) { p[get_global_id(0)] += 1000; }"), 0)
	var err code
	_, id, c := d.Handles()
	p, dev := &text[0], deviceID(id)
	program := k.CreateProgramWithSource(c, 1, &p, nil, &err)
	if err == succeeded {
		err = k.BuildProgram(program, 1, &dev, 0, 0, 0)
	}
	if err != succeeded {
		t.Skipf("the driver compiles no kernel: %d", err)
	}
	kernel := k.CreateKernel(program, "add", &err)
	if err != succeeded {
		t.Fatal(err)
	}
	return kernel
}

func (k *kernels) launch(t *testing.T, s *Stream, kernel uintptr, n int) {
	t.Helper()
	global := uintptr(n)
	check.Must(t, failed(k.EnqueueNDRangeKernel(s.Queue(), kernel, 1, nil, &global, nil, 0, nil, nil), "clEnqueueNDRangeKernel", ""))
}

// numbers is from, from+1, ... as a device has them.
func numbers(from, n int) []byte {
	m := make([]byte, 0, 4*n)
	for i := range n {
		m = binary.NativeEndian.AppendUint32(m, uint32(from+i))
	}
	return m
}

// A kernel of another binding works on part of a region, in the order of a stream.
func TestKernelOnASubBuffer(t *testing.T) {
	k := extra(t)
	d := opened(t, "", unchanged)
	kernel := adder(t, k, d)
	s := mustStream(t, d)
	align := d.Traits().Align
	b := devcheck.Alloc(t, d, 4*align)
	defer d.Free(b)
	devcheck.Write(t, d, b, numbers(0, align))
	sub := check.Ok(d.SubBuffer(devcheck.Part(b, align, align)))(t)
	mem := sub.Mem()
	check.Must(t, failed(k.SetKernelArg(kernel, 0, unsafe.Sizeof(mem), unsafe.Pointer(&mem)), "clSetKernelArg", ""))
	check.Must(t, s.Copy(devcheck.Part(b, align, align), device.Host(numbers(7, align/4))))
	k.launch(t, s, kernel, align/4)
	back := make([]byte, 4*align)
	check.Must(t, s.Copy(device.Host(back), b), s.Sync())
	sub.Release()
	sub.Release() // nothing happens
	want := numbers(0, align)
	copy(want[align:], numbers(1007, align/4))
	holds(t, d, b, want)
	if string(back) != string(want) {
		t.Error("the copy behind the kernel was done before it")
	}
}

func TestSubBufferMistakes(t *testing.T) {
	var l ledger
	fail := code(0)
	d := opened(t, "", func(a *api) {
		l.watch(a)
		fails(a, func() code { return fail }, "CreateSubBuffer")
	})
	align := d.Traits().Align
	b := devcheck.Alloc(t, d, 4*align)
	for _, p := range []device.Block{devcheck.Part(b, 1, 10), devcheck.Part(b, align-1, 1), devcheck.Part(b, 0, 0), devcheck.Part(b, 0, b.Len+1), devcheck.Part(b, -align, 1), {}} {
		check.Wraps(t, check.Err(d.SubBuffer(p)), device.ErrSize)
	}
	check.Wraps(t, check.Err(d.SubBuffer(device.Host(make([]byte, 100)))), device.ErrUnavailable)
	fail = -6
	check.Wraps(t, check.Err(d.SubBuffer(b)), device.ErrOutOfMemory)
	fail = 0
	sub := check.Ok(d.SubBuffer(b))(t)
	d.Free(b)
	if l.mems == 0 {
		t.Error("the memory went before its sub-buffer")
	}
	check.Wraps(t, check.Err(d.SubBuffer(b)), device.ErrUnavailable)
	sub.Release()
	if inUse(d) != 0 {
		t.Errorf("%d bytes in use at the end", inUse(d))
	}
}

// Fine memory is everybody's at any time; coarse memory changes hands.
func TestKernelOnSharedVirtualMemory(t *testing.T) {
	k := extra(t)
	for _, form := range []string{"svm", "svm-fine"} {
		t.Run(form, func(t *testing.T) {
			d := opened(t, form, unchanged)
			kernel := adder(t, k, d)
			s := mustStream(t, d)
			const n = 500
			b := devcheck.Alloc(t, d, 4*n)
			defer d.Free(b)
			r := b.Region.(*SVM)
			for round := range 3 {
				copy(device.Bytes(b), numbers(round, n))
				check.Must(t, failed(k.SetKernelArgSVMPointer(kernel, 0, r.Pointer()), "clSetKernelArgSVMPointer", ""))
				check.Must(t, r.Unmap(s))
				check.Must(t, r.Unmap(s)) // nothing happens
				if form == "svm" {
					lent(t, d, s, b)
				}
				k.launch(t, s, kernel, n)
				check.Must(t, r.Map(s))
				check.Must(t, s.Sync()) // of fine memory Map waits for nothing
				if string(device.Bytes(b)) != string(numbers(round+1000, n)) {
					t.Fatalf("round %d: the kernel's work is not there", round)
				}
			}
		})
	}
}

// lent checks that only the device reaches b.
func lent(t *testing.T, d *Device, s *Stream, b device.Block) {
	t.Helper()
	if device.Bytes(b) != nil {
		t.Error("the CPU has bytes that are the device's")
	}
	check.Wraps(t, d.Copy(b, device.Host(make([]byte, b.Len))), device.ErrUnavailable)
	o := mustStream(t, d)
	check.Wraps(t, o.Fill(b, 0), device.ErrUnavailable)
	check.Wraps(t, o.Copy(device.Host(make([]byte, b.Len)), b), device.ErrUnavailable)
}

// Memory that the CPU has is taken from it before it goes, and all of it goes once.
func TestSharedVirtualMemoryGoes(t *testing.T) {
	for _, c := range []struct {
		form         string
		lend         bool
		unmaps, gone int
	}{{"svm", false, 1, 1}, {"svm", true, 0, 1}, {"svm-fine", false, 0, 1}, {"svm-fine", true, 0, 1}} {
		var unmaps, gone int
		d := opened(t, c.form, func(a *api) {
			for name, n := range map[string]*int{"EnqueueSVMUnmap": &unmaps, "SVMFree": &gone} {
				wrap(a, func(call func() []reflect.Value, _ []reflect.Value) []reflect.Value {
					r := call()
					if len(r) == 0 || r[0].IsZero() { // no error
						*n++
					}
					return r
				}, name)
			}
		})
		b, s := devcheck.Alloc(t, d, 100), mustStream(t, d)
		if c.lend {
			check.Must(t, b.Region.(*SVM).Unmap(s), s.Sync())
		}
		unmaps = 0
		if d.Free(b); unmaps != c.unmaps || gone != c.gone {
			t.Errorf("%+v: %d unmaps, %d gone", c, unmaps, gone)
		}
		if device.Bytes(b) != nil {
			t.Errorf("%+v: bytes of a freed region", c)
		}
	}
}

// Unmap only enqueues, and Map waits for all that comes before it.
func TestMapWaitsAndUnmapDoesNot(t *testing.T) {
	waits := 0
	d := opened(t, "svm", func(a *api) {
		wrap(a, func(call func() []reflect.Value, _ []reflect.Value) []reflect.Value {
			waits++
			return call()
		}, "WaitForEvents")
	})
	b, s := devcheck.Alloc(t, d, 100), mustStream(t, d)
	defer d.Free(b)
	r := b.Region.(*SVM)
	waits = 0
	if check.Must(t, r.Unmap(s)); waits != 0 {
		t.Errorf("Unmap waits %d times", waits)
	}
	if check.Must(t, r.Map(s)); waits == 0 {
		t.Error("Map does not wait")
	}
}

func TestMapMistakes(t *testing.T) {
	d, other := opened(t, "svm", unchanged), opened(t, "svm", unchanged)
	b := devcheck.Alloc(t, d, 100)
	r := b.Region.(*SVM)
	check.Wraps(t, r.Unmap(mustStream(t, other)), device.ErrUnavailable)
	foreign := check.Ok(sim.New(100).NewStream())(t)
	check.Wraps(t, r.Map(foreign), device.ErrUnavailable)
	s := mustStream(t, d)
	check.Must(t, s.Close())
	check.Wraps(t, r.Unmap(s), device.ErrClosed)
	s = mustStream(t, d)
	check.Must(t, r.Unmap(s))
	d.Free(b) // while it is the device's
	check.Wraps(t, r.Map(s), device.ErrUnavailable)
}

// Libraries that are not there, and one that is no OpenCL.
func TestLoadSaysWhatIsMissing(t *testing.T) {
	for _, name := range []string{"libnosuchthing.so.1", "libc.so.6", "/usr/lib/libSystem.B.dylib"} {
		a, err := load([]string{name})
		check.Wraps(t, err, device.ErrUnavailable)
		if err == nil || errors.Is(err, device.ErrDeviceLost) || strings.Contains(err.Error(), "%!") {
			t.Errorf("%s: %v, %v", name, a, err)
		}
	}
}

// A library may lack what only later versions have, and nothing else.
func TestBind(t *testing.T) {
	lib, name, err := dlopen(libraries())
	if err != nil {
		t.Skip(err)
	}
	var later struct {
		Flush  func(queueID) code
		Barter func(queueID) code `since:"4.0"`
	}
	if check.Must(t, bind(lib, name, &later)); later.Flush == nil || later.Barter != nil {
		t.Error("a function that is there is nil, or one that is not is there")
	}
	var always struct {
		Barter func(queueID) code `cl:"clBarterForEver"`
	}
	err = bind(lib, name, &always)
	if check.Wraps(t, err, device.ErrUnavailable); err == nil || !strings.Contains(err.Error(), "clBarterForEver") {
		t.Error(err)
	}
}
