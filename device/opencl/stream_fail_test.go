//go:build (darwin || (linux && !android)) && (amd64 || arm64)

package opencl

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
)

// Work that fails late fails the stream with its own code, and the work behind it
// is never done; so it goes with streams that wait for it.
func TestWorkThatFailsLate(t *testing.T) {
	for k, want := range map[code]error{-5: device.ErrOutOfMemory, -36: device.ErrDeviceLost, -777: device.ErrUnavailable} {
		t.Run(nameOf(k), func(t *testing.T) {
			d, g := openGated(t, "")
			const n = 100
			a := devcheck.Alloc(t, d, n)
			devcheck.Write(t, d, a, devcheck.Pattern(n, 1))
			first, second := mustStream(t, d), mustStream(t, d)
			before := devcheck.Record(t, first)
			check.Must(t, before.Sync()) // a driver may crash where it is under way when the next work fails
			g.shut(t, first, a)
			check.Must(t, first.Fill(a, 7))
			e := devcheck.Record(t, first)
			check.Must(t, second.Wait(e), second.Fill(a, 8))
			after := devcheck.Record(t, second)
			g.open(t, first, k)
			check.Wraps(t, after.Sync(), want)
			check.Wraps(t, e.Sync(), want)
			check.Must(t, before.Sync()) // what fails came after it
			if !e.Done() || !after.Done() {
				t.Error("work that was given up is not over")
			}
			for _, s := range []*Stream{first, second} {
				check.Wraps(t, s.Sync(), want)
				check.Wraps(t, s.Fill(a, 9), want)
				check.Wraps(t, check.Err(s.Record()), want)
				check.Must(t, s.Close())
			}
			if want != device.ErrDeviceLost {
				third := mustStream(t, d)
				check.Wraps(t, third.Wait(e), want)
				holds(t, d, a, devcheck.Pattern(n, 1))
			}
			d.Free(a)
		})
	}
}

// Two streams that wait for each other's past fail both, and no call hangs.
func TestStreamsThatWaitForEachOther(t *testing.T) {
	d, g := openGated(t, "")
	a := devcheck.Alloc(t, d, 10)
	defer d.Free(a)
	x, y := mustStream(t, d), mustStream(t, d)
	g.shut(t, x, a)
	ex := devcheck.Record(t, x)
	check.Must(t, y.Wait(ex))
	ey := devcheck.Record(t, y)
	check.Must(t, x.Wait(ey))
	check.Must(t, x.Wait(ex)) // its own: nothing to wait for
	g.open(t, x, -5)
	check.Wraps(t, x.Sync(), device.ErrOutOfMemory)
	check.Wraps(t, y.Sync(), device.ErrOutOfMemory)
}

// Every call that a stream makes of the driver can fail it.
func TestStreamCallsFail(t *testing.T) {
	var call string
	change := func(a *api) {
		for name, k := range map[string]code{"EnqueueFillBuffer": -4, "EnqueueMarker": -6, "Flush": -5} {
			fails(a, func() code {
				if call == name {
					return k
				}
				return succeeded
			}, name)
		}
	}
	for _, failing := range []string{"EnqueueFillBuffer", "EnqueueMarker", "Flush"} {
		d := opened(t, "", change)
		a, s := devcheck.Alloc(t, d, 10), mustStream(t, d)
		call = failing
		err := s.Fill(a, 1)
		_, recorded := s.Record()
		if failing != "EnqueueMarker" {
			check.Wraps(t, err, device.ErrOutOfMemory)
		}
		check.Wraps(t, recorded, device.ErrOutOfMemory)
		call = ""
		check.Wraps(t, s.Sync(), device.ErrOutOfMemory)
		check.Wraps(t, s.Copy(a, a), device.ErrOutOfMemory)
		check.Must(t, s.Close())
		call = "Flush"
		s = mustStream(t, d)
		m := devcheck.Pattern(10, 1)
		check.Wraps(t, s.Copy(a, device.Host(m)), device.ErrOutOfMemory)
		call = ""
		d.Free(a)
	}
}
