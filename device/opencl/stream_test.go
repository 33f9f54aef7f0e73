//go:build (darwin || (linux && !android)) && (amd64 || arm64)

package opencl

import (
	"sync"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
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
		real := a.EnqueueCopyBuffer
		a.EnqueueCopyBuffer = func(q queueID, src, dst memID, from, to, size uintptr, n uint32, after, done *eventID) code {
			if g.closing {
				*done, g.closing = g.event, false
				return succeeded
			}
			return real(q, src, dst, from, to, size, n, after, done)
		}
	})
	return d, g
}

// shut holds up all work of s from here until the gate is opened with a status.
func (g *gate) shut(t *testing.T, s *Stream, b device.Block) {
	t.Helper()
	var k code
	g.event, g.closing = g.k.CreateUserEvent(s.ctx.id, &k), true
	must(t, failed(k, "clCreateUserEvent", ""))
	s.ctx.RetainEvent(g.event) // ours, the other is the stream's
	must(t, s.Copy(part(b, 0, 1), part(b, 1, 1)))
}

func (g *gate) open(t *testing.T, s *Stream, status code) {
	t.Helper()
	must(t, failed(g.k.SetUserEventStatus(g.event, int32(status)), "clSetUserEventStatus", ""))
	s.ctx.ReleaseEvent(g.event)
}

// Work that the CPU has no part in is enqueued and left to the device; an
// event is done with it and not before.
func TestStreamsDoNotWait(t *testing.T) {
	d, g := openGated(t, "")
	p, err := d.Pinned()
	must(t, err)
	const n = 1000
	a, b := mustAlloc(t, d, n), mustAlloc(t, d, n)
	from, to := mustAlloc(t, p, n), mustAlloc(t, p, n)
	copy(device.Bytes(from), pattern(n, 3))
	clear(device.Bytes(to))
	first, second := mustStream(t, d), mustStream(t, d)
	g.shut(t, first, a)
	must(t, first.Copy(a, from))
	must(t, first.Copy(b, a))
	must(t, first.Fill(part(b, 1, 1), 99))
	e, err := first.Record()
	must(t, err)
	must(t, second.Wait(e))
	must(t, second.Copy(to, b))
	last, err := second.Record()
	must(t, err)
	if e.Done() || last.Done() {
		t.Error("an event is done before its work")
	}
	if device.Bytes(to)[0] != 0 {
		t.Error("a copy did not wait")
	}
	g.open(t, first, succeeded)
	must(t, last.Sync())
	must(t, first.Sync())
	if !e.Done() || !last.Done() {
		t.Error("an event is not done after its work")
	}
	want := pattern(n, 3)
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
	b := mustAlloc(t, d, n)
	defer d.Free(b)
	m := pattern(n, 1)
	must(t, s.Copy(b, device.Host(m)))
	clear(m)
	must(t, s.Copy(device.Host(m), b))
	if string(m) != string(pattern(n, 1)) {
		t.Error("the copy was not over when it returned")
	}
}

// Blocks that the CPU reaches are copied and filled when their turn has come.
func TestHostWorkWaitsItsTurn(t *testing.T) {
	d, g := openGated(t, "")
	a := mustAlloc(t, d, 10)
	defer d.Free(a)
	s := mustStream(t, d)
	from, to := []byte{1, 2, 3}, make([]byte, 3)
	g.shut(t, s, a)
	go func() {
		from[0] = 9 // which a copy that does not wait would miss
		g.open(t, s, succeeded)
	}()
	must(t, s.Copy(device.Host(to), device.Host(from)))
	if to[0] != 9 {
		t.Error("the copy did not wait for the work before it")
	}
	must(t, s.Fill(device.Host(to[1:]), 5))
	if string(to) != "\x09\x05\x05" {
		t.Errorf("% x", to)
	}
}

// Calls of several goroutines are enqueued in some order, whole.
func TestStreamIsForSeveralGoroutines(t *testing.T) {
	d := opened(t, "", unchanged)
	s := mustStream(t, d)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			b, err := d.Alloc(500)
			if err != nil {
				t.Error(err)
				return
			}
			defer d.Free(b)
			for i := range 50 {
				want, got := pattern(500, g*100+i), make([]byte, 500)
				for _, err := range []error{
					s.Fill(b, byte(i)), s.Copy(b, device.Host(want)), s.Copy(device.Host(got), b),
				} {
					if err != nil {
						t.Error(err)
					}
				}
				e, err := s.Record()
				if err != nil || e.Sync() != nil || string(got) != string(want) {
					t.Errorf("goroutine %d: %v", g, err)
				}
			}
		}()
	}
	wg.Wait()
	must(t, s.Sync())
	if len(s.pending) != 0 {
		t.Errorf("%d pieces of work are still remembered", len(s.pending))
	}
}

// Close waits; a wait that fails on a lost device does not keep the queue.
func TestCloseOfAStream(t *testing.T) {
	d, g := openGated(t, "")
	a := mustAlloc(t, d, 10)
	defer d.Free(a)
	s := mustStream(t, d)
	g.shut(t, s, a)
	must(t, s.Fill(a, 5))
	e, err := s.Record()
	must(t, err)
	go g.open(t, s, succeeded)
	must(t, s.Close())
	if !e.Done() {
		t.Error("Close did not wait")
	}
	must(t, e.Sync())
	holds(t, d, a, []byte{5, 5, 5, 5, 5, 5, 5, 5, 5, 5})
	wants(t, s.Close(), device.ErrClosed)
	wants(t, s.Sync(), device.ErrClosed)
}

// Fine-grained memory is moved by the queue, coarse by the CPU.
func TestWhoMovesSharedVirtualMemory(t *testing.T) {
	for form, want := range map[string]int{"svm": 0, "svm-fine": 2} {
		t.Run(form, func(t *testing.T) {
			calls := 0
			d := opened(t, form, func(a *api) {
				move, fill := a.EnqueueSVMMemcpy, a.EnqueueSVMMemFill
				a.EnqueueSVMMemcpy = func(q queueID, wait uint32, dst, src unsafe.Pointer, size uintptr, n uint32, after, done *eventID) code {
					calls++
					return move(q, wait, dst, src, size, n, after, done)
				}
				a.EnqueueSVMMemFill = func(q queueID, dst unsafe.Pointer, pattern *byte, width, size uintptr, n uint32, after, done *eventID) code {
					calls++
					return fill(q, dst, pattern, width, size, n, after, done)
				}
			})
			a, b, s := mustAlloc(t, d, 100), mustAlloc(t, d, 100), mustStream(t, d)
			must(t, s.Fill(a, 3))
			must(t, s.Copy(b, a))
			must(t, s.Copy(part(b, 0, 99), part(b, 1, 99))) // which overlaps
			must(t, s.Sync())
			if device.Bytes(b)[99] != 3 || calls != want {
				t.Errorf("%d calls, %d", calls, device.Bytes(b)[99])
			}
			d.Free(a)
			d.Free(b)
		})
	}
}
