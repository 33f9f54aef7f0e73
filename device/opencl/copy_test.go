package opencl

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
)

// Every form copies to and from every other, and what the CPU has.
func TestCopiesBetweenForms(t *testing.T) {
	const n = 5000
	found := doubles(t, unchanged)
	var blocks []device.Block
	var any *Device
	for _, rest := range []string{"0", "0:deferred", "0:svm", "0:svm-fine"} {
		d, err := openOn(found, rest)
		if err != nil {
			continue
		}
		defer d.Close()
		for _, d := range []*Device{d, d.pinned} {
			b := devcheck.Alloc(t, d, n)
			defer d.Free(b)
			blocks = append(blocks, b)
		}
		any = d
	}
	for _, name := range []string{"heap", "mmap"} {
		d := check.Ok(device.Open(name))(t)
		b := devcheck.Alloc(t, d, n)
		defer d.Free(b)
		blocks = append(blocks, b)
	}
	s := mustStream(t, any)
	for i, from := range blocks {
		for k, to := range blocks {
			if i == k {
				continue
			}
			devcheck.Write(t, any, from, devcheck.Pattern(n, i))
			check.Must(t, any.Copy(devcheck.Part(to, 7, n-7), devcheck.Part(from, 0, n-7)))
			holds(t, any, devcheck.Part(to, 7, n-7), devcheck.Pattern(n, i)[:n-7])
			check.Must(t, s.Copy(devcheck.Part(to, 0, n-9), devcheck.Part(from, 9, n-9)), s.Sync())
			holds(t, any, devcheck.Part(to, 0, n-9), devcheck.Pattern(n, i)[9:])
		}
	}
}

// Memory of the same hardware, but of a context that was lost meanwhile or belongs to
// another, cannot be reached and is not touched.
func TestCopiesOfAnotherContext(t *testing.T) {
	a, b := opened(t, "", unchanged), opened(t, "", unchanged)
	x, y := devcheck.Alloc(t, a, 10), devcheck.Alloc(t, b, 10)
	check.Wraps(t, a.Copy(x, y), device.ErrUnavailable)
	check.Wraps(t, a.Copy(y, x), device.ErrUnavailable)
	check.Wraps(t, check.Err(a.SubBuffer(y)), device.ErrUnavailable)
	a.Free(x)
	b.Free(y)
}

// Work on no bytes is none, and keeps no region.
func TestNothingIsMoved(t *testing.T) {
	for _, form := range formNames() {
		t.Run(form, func(t *testing.T) {
			d := opened(t, form, unchanged)
			b, s := devcheck.Alloc(t, d, 10), mustStream(t, d)
			check.Must(t, d.Copy(devcheck.Part(b, 3, 0), devcheck.Part(b, 10, 0)))
			check.Must(t, s.Copy(devcheck.Part(b, 3, 0), device.Block{}))
			check.Must(t, s.Fill(devcheck.Part(b, 10, 0), 1), s.Sync())
			d.Free(b)
			if n := b.Region.(owned).base().life.Uses(); n != 0 {
				t.Errorf("%d calls still hold the region", n)
			}
		})
	}
}

// Pinned memory takes no room of the device.
func TestPinnedMemoryIsOfTheMachine(t *testing.T) {
	d := opened(t, "", unchanged)
	b := devcheck.Alloc(t, d.pinned, 1000)
	defer d.pinned.Free(b)
	free, total, err := d.MemInfo()
	check.Must(t, err)
	if free != total {
		t.Errorf("%d of %d bytes are free", free, total)
	}
	if free, total, _ := d.pinned.MemInfo(); total-free != 1000 {
		t.Errorf("%d of %d bytes are free", free, total)
	}
}

// A copy that the driver refuses moves nothing, says why, and keeps no region.
func TestCopyFails(t *testing.T) {
	fail := code(0)
	var l ledger
	d := opened(t, "", func(a *api) {
		l.watch(a)
		fails(a, func() code { return fail }, "EnqueueWriteBuffer", "EnqueueReadBuffer", "EnqueueCopyBuffer")
	})
	b, host := devcheck.Alloc(t, d, 100), device.Host(make([]byte, 100))
	devcheck.Write(t, d, b, devcheck.Pattern(100, 1))
	before := l
	for k, want := range map[code]error{-5: device.ErrOutOfMemory, -4: device.ErrOutOfMemory, -30: device.ErrUnavailable} {
		for _, c := range [][2]device.Block{{b, host}, {host, b}, {devcheck.Part(b, 0, 50), devcheck.Part(b, 50, 50)}, {devcheck.Part(b, 0, 99), devcheck.Part(b, 1, 99)}} {
			s := mustStream(t, d)
			fail = k
			check.Wraps(t, d.Copy(c[0], c[1]), want)
			check.Wraps(t, s.Copy(c[0], c[1]), want)
			fail = 0
			check.Wraps(t, s.Sync(), want)
			check.Wraps(t, check.Err(s.Record()), want)
			check.Wraps(t, s.Fill(b, 0), want)
			check.Must(t, s.Close())
		}
	}
	holds(t, d, b, devcheck.Pattern(100, 1))
	if l != before {
		t.Errorf("%+v, and there were %+v", l, before)
	}
	d.Free(b)
	if n := b.Region.(*Buffer).life.Uses(); n != 0 {
		t.Errorf("%d calls still hold the region", n)
	}
}
