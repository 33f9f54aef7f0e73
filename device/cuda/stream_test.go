//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"runtime"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
)

// Work between memory that the GPU reaches is only enqueued.
func TestStreamDoesNotWait(t *testing.T) {
	needsLazy(t)
	d := opened(t, "cuda:0")
	p := pinnedOf(t, d)
	s, want := streamOn(t, d), devcheck.Pattern(1000, 0)
	host, back, on := allocated(t, p, 1000), allocated(t, p, 1000), allocated(t, d, 1000)
	copy(device.Bytes(host), want)
	check.Must(t, s.Copy(on, host), s.Copy(back, on), s.Fill(host, 7))
	if device.Bytes(back)[0] == want[0] || device.Bytes(host)[0] == 7 {
		t.Error("work was done before it was waited for")
	}
	e := devcheck.Record(t, s)
	if e.Done() {
		t.Error("an event is done before its work")
	}
	check.Must(t, s.Sync())
	check.Same(t, device.Bytes(back), want, "bytes")
	if !e.Done() || device.Bytes(host)[999] != 7 {
		t.Error("Sync did not do all the work")
	}
}

// Pageable memory is Go's again when the call returns.
func TestPageableMemoryIsWaitedFor(t *testing.T) {
	d := opened(t, "cuda:0")
	s, want := streamOn(t, d), devcheck.Pattern(1000, 0)
	on := allocated(t, d, 1000)
	host, back := append([]byte(nil), want...), make([]byte, 1000)
	check.Must(t, s.Copy(on, device.Host(host)))
	clear(host) // too late to change anything
	check.Must(t, s.Copy(device.Host(back), on))
	check.Same(t, back, want, "bytes")
	check.Must(t, s.Fill(device.Host(back), 9))
	if back[999] != 9 {
		t.Error("a fill of pageable memory was not done")
	}
	check.Must(t, s.Copy(device.Host(host), device.Host(back)))
	check.Same(t, host, back, "bytes")
}

func TestStreamWaitsForAnotherGPU(t *testing.T) {
	s, other := streamOn(t, opened(t, "cuda:0")), streamOn(t, opened(t, "cuda:1"))
	e := devcheck.Record(t, other)
	check.Must(t, s.Wait(e), s.Sync())
}

// Close waits for the work. A call that runs beside it works or gets ErrClosed.
func TestCloseWaits(t *testing.T) {
	d := opened(t, "cuda:0")
	host := allocated(t, pinnedOf(t, d), 1000)
	for range 20 {
		s := devcheck.Stream(t, d)
		check.Must(t, s.Fill(host, 3))
		e := devcheck.Record(t, s)
		var all sync.WaitGroup
		all.Go(func() { _ = s.Sync() })
		check.Must(t, s.Close())
		if !e.Done() || device.Bytes(host)[999] != 3 {
			t.Fatal("Close did not wait for the work")
		}
		all.Wait()
		clear(device.Bytes(host))
		check.Wraps(t, s.Sync(), device.ErrClosed)
		check.Wraps(t, s.Wait(e), device.ErrClosed)
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
		e := devcheck.Record(t, s)
		check.Must(t, e.Sync())
	}
	if now := idle(); now > max(before, 1) {
		t.Errorf("%d events where one at a time was used, %d before", now, before)
	}
	const forgotten = 20
	for range forgotten {
		devcheck.Record(t, s)
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
