//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"runtime"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// Work between memory that the GPU reaches is only enqueued.
func TestStreamDoesNotWait(t *testing.T) {
	needsLazy(t)
	d := opened(t, "cuda:0")
	p := pinnedOf(t, d)
	s, want := streamOn(t, d), pattern(1000)
	host, back, on := allocated(t, p, 1000), allocated(t, p, 1000), allocated(t, d, 1000)
	copy(device.Bytes(host), want)
	must(t, s.Copy(on, host))
	must(t, s.Copy(back, on))
	must(t, s.Fill(host, 7))
	if device.Bytes(back)[0] == want[0] || device.Bytes(host)[0] == 7 {
		t.Error("work was done before it was waited for")
	}
	e, err := s.Record()
	must(t, err)
	if e.Done() {
		t.Error("an event is done before its work")
	}
	must(t, s.Sync())
	same(t, device.Bytes(back), want)
	if !e.Done() || device.Bytes(host)[999] != 7 {
		t.Error("Sync did not do all the work")
	}
}

// Pageable memory is Go's again when the call returns.
func TestPageableMemoryIsWaitedFor(t *testing.T) {
	d := opened(t, "cuda:0")
	s, want := streamOn(t, d), pattern(1000)
	on := allocated(t, d, 1000)
	host, back := append([]byte(nil), want...), make([]byte, 1000)
	must(t, s.Copy(on, device.Host(host)))
	clear(host) // too late to change anything
	must(t, s.Copy(device.Host(back), on))
	same(t, back, want)
	must(t, s.Fill(device.Host(back), 9))
	if back[999] != 9 {
		t.Error("a fill of pageable memory was not done")
	}
	must(t, s.Copy(device.Host(host), device.Host(back)))
	same(t, host, back)
}

// Asked again and again an event is done in the end, without any Sync.
func TestEventIsDoneInTheEnd(t *testing.T) {
	d := opened(t, "cuda:0")
	s, on := streamOn(t, d), allocated(t, d, 1000)
	for range 10 {
		must(t, s.Fill(on, 1))
	}
	e, err := s.Record()
	must(t, err)
	for !e.Done() {
		runtime.Gosched()
	}
	must(t, e.Sync())
}

// A stream that waits for another's event sees the work before it.
func TestStreamsWaitForEachOther(t *testing.T) {
	d := opened(t, "cuda:0")
	first, second := streamOn(t, d), streamOn(t, d)
	a, b := allocated(t, d, 1000), allocated(t, d, 1000)
	must(t, first.Fill(a, 5))
	e, err := first.Record()
	must(t, err)
	must(t, second.Wait(e))
	must(t, second.Copy(b, a))
	must(t, second.Sync()) // and not first
	if got := contents(t, d, b); got[0] != 5 || got[999] != 5 {
		t.Errorf("a copy behind an event is of %#x", got[0])
	}
	if !e.Done() {
		t.Error("an event that was waited for is not done")
	}
}

func TestStreamWaitsForOtherDevices(t *testing.T) {
	sim := device.NewSim(1 << 20)
	work, err := sim.NewStream()
	must(t, err)
	e, err := work.Record()
	must(t, err)
	s := streamOn(t, opened(t, "cuda:0"))
	must(t, s.Wait(e))
	must(t, s.Sync())

	other := streamOn(t, opened(t, "cuda:1"))
	e, err = other.Record()
	must(t, err)
	must(t, s.Wait(e))
	must(t, s.Sync())
}

// Goroutines share a stream; what each enqueues is done, and somebody waits at any time.
func TestStreamIsSafeForConcurrentUse(t *testing.T) {
	const workers, rounds = 4, 50
	d := opened(t, "cuda:0")
	s := streamOn(t, d)
	p := pinnedOf(t, d)
	var all sync.WaitGroup
	for w := range workers {
		on, host := allocated(t, d, 1000), allocated(t, p, 1000)
		all.Go(func() {
			for i := range rounds {
				v := byte(w*rounds + i)
				if s.Fill(on, v) != nil || s.Copy(host, on) != nil {
					t.Error("work was refused")
				}
				e, err := s.Record()
				if err != nil || e.Sync() != nil || !e.Done() {
					t.Errorf("an event was not done: %v", err)
				}
				if got := device.Bytes(host); got[0] != v || got[999] != v {
					t.Errorf("%#x was copied, not %#x", got[0], v)
				}
			}
		})
	}
	all.Wait()
}

// Close waits for the work, and whoever calls meanwhile gets ErrClosed or is served.
func TestCloseWaits(t *testing.T) {
	d := opened(t, "cuda:0")
	host := allocated(t, pinnedOf(t, d), 1000)
	for range 20 {
		s, err := d.NewStream()
		must(t, err)
		must(t, s.Fill(host, 3))
		e, err := s.Record()
		must(t, err)
		var all sync.WaitGroup
		all.Go(func() { _ = s.Sync() })
		must(t, s.Close())
		if !e.Done() || device.Bytes(host)[999] != 3 {
			t.Fatal("Close did not wait for the work")
		}
		all.Wait()
		clear(device.Bytes(host))
		wants(t, s.Sync(), device.ErrClosed)
		wants(t, s.Wait(e), device.ErrClosed)
	}
}

// The first error stays, and Sync waits for the work before it.
func TestErrorStaysButWorkBeforeItIsDone(t *testing.T) {
	d := opened(t, "cuda:0")
	s, host := streamOn(t, d), allocated(t, pinnedOf(t, d), 100)
	must(t, s.Fill(host, 4))
	gone, err := d.Alloc(100)
	must(t, err)
	d.Free(gone)
	wants(t, s.Copy(gone, host), device.ErrUnavailable)
	wants(t, s.Fill(host, 5), device.ErrUnavailable)
	_, err = s.Record()
	wants(t, err, device.ErrUnavailable)
	wants(t, s.Sync(), device.ErrUnavailable)
	if device.Bytes(host)[99] != 4 {
		t.Errorf("Sync of a failed stream left %#x", device.Bytes(host)[99])
	}
}

// Events of the driver are used again, whether the program asked for them or forgot them.
func TestEventsAreUsedAgain(t *testing.T) {
	d := opened(t, "cuda:0")
	s, g := streamOn(t, d), d.(*memory).gpu
	idle := func() int {
		g.mu.Lock()
		defer g.mu.Unlock()
		return len(g.events)
	}
	before := idle()
	for range 100 {
		e, err := s.Record()
		must(t, err)
		must(t, e.Sync())
	}
	if now := idle(); now > max(before, 1) {
		t.Errorf("%d events where one at a time was used, %d before", now, before)
	}
	const forgotten = 20
	for range forgotten {
		_, err := s.Record()
		must(t, err)
	}
	least := idle() + forgotten - 1 // the last may still be in a register
	for range 100 {
		if runtime.GC(); idle() >= least {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d events of %d that were forgotten came back", idle()-least+forgotten, forgotten)
}

// Copies within a block that overlap move it as copy does.
func TestOverlappingCopies(t *testing.T) {
	const n = 3*shiftBytes + 1001
	for _, name := range names {
		d := opened(t, name)
		b := allocated(t, d, n)
		for _, shift := range []int{1, 1000, shiftBytes, 2*shiftBytes + 5} {
			for _, c := range [][2]int{{0, shift}, {shift, 0}} {
				want := pattern(n)
				must(t, d.Copy(b, device.Host(want)))
				copy(want[c[1]:], want[c[0]:c[0]+n-shift])
				must(t, d.Copy(device.Block{Region: b.Region, Off: c[1], Len: n - shift}, device.Block{Region: b.Region, Off: c[0], Len: n - shift}))
				same(t, contents(t, d, b), want)
			}
		}
	}
}

// Memory of every kind of host is a copy's other side.
func TestHostMemoryOfAllKinds(t *testing.T) {
	d, want := opened(t, "cuda:0"), pattern(5000)
	on := allocated(t, d, 5000)
	for _, name := range []string{"heap", "mmap", "cuda:0:pinned"} {
		host := allocated(t, opened(t, name), 5000)
		copy(device.Bytes(host), want)
		must(t, d.Copy(on, host))
		clear(device.Bytes(host))
		must(t, d.Copy(host, on))
		same(t, device.Bytes(host), want)
	}
}
