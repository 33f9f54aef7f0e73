//go:build (darwin || (linux && !android)) && (amd64 || arm64)

package opencl

import (
	"testing"

	"github.com/bufslab/bufslab/device"
)

// Work that fails late fails the stream with its own code, and the work behind it
// is never done; so it goes with streams that wait for it.
func TestWorkThatFailsLate(t *testing.T) {
	for k, want := range map[code]error{-5: device.ErrOutOfMemory, -36: device.ErrDeviceLost, -777: device.ErrUnavailable} {
		t.Run(nameOf(k), func(t *testing.T) {
			d, g := openGated(t, "")
			const n = 100
			a := mustAlloc(t, d, n)
			put(t, d, a, pattern(n, 1))
			first, second := mustStream(t, d), mustStream(t, d)
			g.shut(t, first, a)
			must(t, first.Fill(a, 7))
			e, err := first.Record()
			must(t, err)
			must(t, second.Wait(e))
			must(t, second.Fill(a, 8))
			after, err := second.Record()
			must(t, err)
			g.open(t, first, k)
			wants(t, after.Sync(), want)
			wants(t, e.Sync(), want)
			if !e.Done() || !after.Done() {
				t.Error("work that was given up is not over")
			}
			for _, s := range []*Stream{first, second} {
				wants(t, s.Sync(), want)
				wants(t, s.Fill(a, 9), want)
				_, err := s.Record()
				wants(t, err, want)
				must(t, s.Close())
			}
			if want != device.ErrDeviceLost {
				third := mustStream(t, d)
				wants(t, third.Wait(e), want)
				holds(t, d, a, pattern(n, 1))
			}
			d.Free(a)
		})
	}
}

// Two streams that wait for each other's past fail both, and nobody hangs.
func TestStreamsThatWaitForEachOther(t *testing.T) {
	d, g := openGated(t, "")
	a := mustAlloc(t, d, 10)
	defer d.Free(a)
	x, y := mustStream(t, d), mustStream(t, d)
	g.shut(t, x, a)
	ex, err := x.Record()
	must(t, err)
	must(t, y.Wait(ex))
	ey, err := y.Record()
	must(t, err)
	must(t, x.Wait(ey))
	must(t, x.Wait(ex)) // its own: nothing to wait for
	g.open(t, x, -5)
	wants(t, x.Sync(), device.ErrOutOfMemory)
	wants(t, y.Sync(), device.ErrOutOfMemory)
}

// Every call that a stream makes of the driver can fail it.
func TestStreamCallsFail(t *testing.T) {
	var call string
	change := func(a *api) {
		real := *a
		a.EnqueueFillBuffer = func(q queueID, m memID, pattern *byte, width, off, size uintptr, n uint32, after, done *eventID) code {
			if call == "fill" {
				return -4
			}
			return real.EnqueueFillBuffer(q, m, pattern, width, off, size, n, after, done)
		}
		a.EnqueueMarker = func(q queueID, n uint32, after, done *eventID) code {
			if call == "marker" {
				return -6
			}
			return real.EnqueueMarker(q, n, after, done)
		}
		a.Flush = func(q queueID) code {
			if call == "flush" {
				return -5
			}
			return real.Flush(q)
		}
	}
	for _, failing := range []string{"fill", "marker", "flush"} {
		d := opened(t, "", change)
		a, s := mustAlloc(t, d, 10), mustStream(t, d)
		call = failing
		err := s.Fill(a, 1)
		_, recorded := s.Record()
		if failing == "fill" || failing == "flush" {
			wants(t, err, device.ErrOutOfMemory)
		}
		wants(t, recorded, device.ErrOutOfMemory)
		call = ""
		wants(t, s.Sync(), device.ErrOutOfMemory)
		wants(t, s.Copy(a, a), device.ErrOutOfMemory)
		must(t, s.Close())
		call = "flush"
		s = mustStream(t, d)
		m := pattern(10, 1)
		wants(t, s.Copy(a, device.Host(m)), device.ErrOutOfMemory)
		call = ""
		d.Free(a)
	}
}
