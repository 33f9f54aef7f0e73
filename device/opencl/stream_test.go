//go:build (darwin || (linux && !android)) && (amd64 || arm64)

package opencl

import (
	"reflect"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
)

// A gate is work that lasts until it is told to be over: an event of the user,
// handed out in place of that of the next copy within the device.
type gate struct {
	k       *kernels
	closing bool
	event   eventID
}

// openGated is a double whose copies within the device can be held up.
func openGated(t *testing.T, form string) (*Device, *gate) {
	t.Helper()
	g := &gate{k: extra(t)}
	d := opened(t, form, func(a *api) {
		wrap(a, func(call func() []reflect.Value, args []reflect.Value) []reflect.Value {
			if !g.closing {
				return call()
			}
			*args[len(args)-1].Interface().(*eventID), g.closing = g.event, false
			return result(succeeded)
		}, "EnqueueCopyBuffer")
	})
	return d, g
}

// shut holds up all work of s from here until the gate is opened with a status.
func (g *gate) shut(t *testing.T, s *Stream, b device.Block) {
	t.Helper()
	var k code
	g.event, g.closing = g.k.CreateUserEvent(s.ctx.id, &k), true
	check.Must(t, failed(k, "clCreateUserEvent", ""))
	s.ctx.RetainEvent(g.event) // ours, the other is the stream's
	check.Must(t, s.Copy(devcheck.Part(b, 0, 1), devcheck.Part(b, 1, 1)))
}

func (g *gate) open(t *testing.T, s *Stream, status code) {
	t.Helper()
	check.Must(t, failed(g.k.SetUserEventStatus(g.event, int32(status)), "clSetUserEventStatus", ""))
	s.ctx.ReleaseEvent(g.event)
}

// Work that the CPU has no part in is enqueued and left to the device; an
// event is done with it and not before.
func TestStreamsDoNotWait(t *testing.T) {
	d, g := openGated(t, "")
	p := check.Ok(d.Pinned())(t)
	const n = 1000
	a, b := devcheck.Alloc(t, d, n), devcheck.Alloc(t, d, n)
	from, to := devcheck.Alloc(t, p, n), devcheck.Alloc(t, p, n)
	copy(device.Bytes(from), devcheck.Pattern(n, 3))
	clear(device.Bytes(to))
	first, second := mustStream(t, d), mustStream(t, d)
	g.shut(t, first, a)
	check.Must(t, first.Copy(a, from), first.Copy(b, a), first.Fill(devcheck.Part(b, 1, 1), 99))
	e := devcheck.Record(t, first)
	check.Must(t, second.Wait(e), second.Copy(to, b))
	last := devcheck.Record(t, second)
	if e.Done() || last.Done() {
		t.Error("an event is done before its work")
	}
	if device.Bytes(to)[0] != 0 {
		t.Error("a copy did not wait")
	}
	g.open(t, first, succeeded)
	check.Must(t, last.Sync(), first.Sync())
	if !e.Done() || !last.Done() {
		t.Error("an event is not done after its work")
	}
	want := devcheck.Pattern(n, 3)
	want[1] = 99
	if string(device.Bytes(to)) != string(want) {
		t.Error("the work was not done in order")
	}
	for _, b := range []device.Block{a, b} {
		d.Free(b)
	}
	p.Free(from)
	p.Free(to)
}

// Memory that is not the driver's is done with when the call returns; what
// the driver has kept of it would be overwritten here.
func TestHostMemoryIsTheCallersAgain(t *testing.T) {
	d := opened(t, "", unchanged)
	s := mustStream(t, d)
	const n = 1 << 20
	b := devcheck.Alloc(t, d, n)
	defer d.Free(b)
	m := devcheck.Pattern(n, 1)
	check.Must(t, s.Copy(b, device.Host(m)))
	clear(m)
	check.Must(t, s.Copy(device.Host(m), b))
	if string(m) != string(devcheck.Pattern(n, 1)) {
		t.Error("the copy was not over when it returned")
	}
}

// What a driver is asked for is the plain form: queues in order, copies that do not wait while a lock is held,
// contexts without a callback, and memory for any type. Nothing that is given back is refused.
func TestWhatADriverIsAskedFor(t *testing.T) {
	for _, form := range formNames() {
		t.Run(form, func(t *testing.T) {
			allocated := false
			d := opened(t, form, func(a *api) {
				for _, x := range []struct {
					call string
					arg  int
				}{
					{"CreateCommandQueue", 2}, {"CreateContext", 3}, {"CreateContext", 4}, {"SVMAlloc", 3},
					{"EnqueueReadBuffer", 2}, {"EnqueueWriteBuffer", 2}, {"EnqueueSVMMemcpy", 1}, {"EnqueueSVMMap", 1},
				} {
					wrap(a, func(call func() []reflect.Value, args []reflect.Value) []reflect.Value {
						if !args[x.arg].IsZero() && (allocated || x.call != "EnqueueSVMMap") {
							t.Errorf("%s has %v for its argument %d", x.call, args[x.arg], x.arg)
						}
						return call()
					}, x.call)
				}
				wrap(a, func(call func() []reflect.Value, _ []reflect.Value) []reflect.Value {
					r := call()
					if !r[0].IsZero() {
						t.Errorf("the driver refuses with %v", r[0])
					}
					return r
				}, "EnqueueUnmap", "EnqueueSVMUnmap", "ReleaseMemObject", "ReleaseCommandQueue", "ReleaseContext", "ReleaseEvent")
			})
			a, b, s := devcheck.Alloc(t, d, 100), devcheck.Alloc(t, d, 100), mustStream(t, d)
			allocated = true
			host := device.Host(make([]byte, 100))
			check.Must(t, s.Copy(a, host), s.Copy(b, a), s.Copy(host, b), s.Sync())
			if r, ok := a.Region.(*SVM); ok {
				check.Must(t, r.Unmap(s), r.Map(s))
			}
			d.Free(a)
			d.Free(b)
			check.Must(t, s.Close())
		})
	}
}

// A stream accepts what it reaches, and no bytes of anything, and keeps none of it.
func TestAccepts(t *testing.T) {
	d, other := opened(t, "", unchanged), opened(t, "", unchanged)
	a, foreign, gone := devcheck.Alloc(t, d, 10), devcheck.Alloc(t, other, 10), devcheck.Alloc(t, d, 10)
	defer other.Free(foreign)
	d.Free(gone)
	s := mustStream(t, d)
	for _, b := range []device.Block{{}, a, devcheck.Part(a, 9, 1), device.Host([]byte{1}), devcheck.Part(foreign, 1, 0), devcheck.Part(gone, 1, 0)} {
		check.Must(t, s.Accepts(b))
	}
	for _, b := range []device.Block{foreign, devcheck.Part(foreign, 1, 1), gone} {
		check.Wraps(t, s.Accepts(b), device.ErrUnavailable)
	}
	d.Free(a)
	if n := a.Region.(*Buffer).life.Uses(); n != 0 {
		t.Errorf("%d calls still hold the region", n)
	}
	check.Must(t, s.Close())
	check.Wraps(t, s.Accepts(device.Block{}), device.ErrClosed)
}

// Blocks that the CPU reaches are copied and filled when their turn has come.
func TestHostWorkWaitsItsTurn(t *testing.T) {
	d, g := openGated(t, "")
	a := devcheck.Alloc(t, d, 10)
	defer d.Free(a)
	s := mustStream(t, d)
	from, to := []byte{1, 2, 3}, make([]byte, 3)
	g.shut(t, s, a)
	go func() {
		from[0] = 9 // which a copy that does not wait would miss
		g.open(t, s, succeeded)
	}()
	check.Must(t, s.Copy(device.Host(to), device.Host(from)))
	if to[0] != 9 {
		t.Error("the copy did not wait for the work before it")
	}
	check.Must(t, s.Fill(device.Host(to[1:]), 5))
	if string(to) != "\x09\x05\x05" {
		t.Errorf("% x", to)
	}
}

// Close waits; a wait that fails on a lost device does not keep the queue.
func TestCloseOfAStream(t *testing.T) {
	d, g := openGated(t, "")
	a := devcheck.Alloc(t, d, 10)
	defer d.Free(a)
	s := mustStream(t, d)
	g.shut(t, s, a)
	check.Must(t, s.Fill(a, 5))
	e := devcheck.Record(t, s)
	go g.open(t, s, succeeded)
	check.Must(t, s.Close())
	if !e.Done() {
		t.Error("Close did not wait")
	}
	check.Must(t, e.Sync())
	holds(t, d, a, []byte{5, 5, 5, 5, 5, 5, 5, 5, 5, 5})
	check.Wraps(t, s.Close(), device.ErrClosed)
	check.Wraps(t, s.Sync(), device.ErrClosed)
}

// Fine-grained memory is moved by the queue, coarse by the CPU.
func TestWhoMovesSharedVirtualMemory(t *testing.T) {
	for form, want := range map[string]int{"svm": 0, "svm-fine": 2} {
		t.Run(form, func(t *testing.T) {
			calls := 0
			d := opened(t, form, func(a *api) {
				wrap(a, func(call func() []reflect.Value, _ []reflect.Value) []reflect.Value {
					calls++
					return call()
				}, "EnqueueSVMMemcpy", "EnqueueSVMMemFill")
			})
			a, b, s := devcheck.Alloc(t, d, 100), devcheck.Alloc(t, d, 100), mustStream(t, d)
			check.Must(t, s.Fill(a, 3), s.Copy(b, a))
			check.Must(t, s.Copy(devcheck.Part(b, 0, 99), devcheck.Part(b, 1, 99))) // which overlaps
			check.Must(t, s.Sync())
			if device.Bytes(b)[99] != 3 || calls != want {
				t.Errorf("%d calls, %d", calls, device.Bytes(b)[99])
			}
			d.Free(a)
			d.Free(b)
		})
	}
}
