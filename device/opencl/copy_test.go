package opencl

import (
	"reflect"
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

// Bytes that overlap go by way of a buffer, for which there has to be room; others go straight.
func TestCopiesWithinARegion(t *testing.T) {
	var copies, buffers int
	d := opened(t, "", func(a *api) {
		for name, n := range map[string]*int{"EnqueueCopyBuffer": &copies, "CreateBuffer": &buffers} {
			wrap(a, func(call func() []reflect.Value, _ []reflect.Value) []reflect.Value {
				*n++
				return call()
			}, name)
		}
	})
	b, s := devcheck.Alloc(t, d, 100), mustStream(t, d)
	defer d.Free(b)
	d.room().Total = 110
	for _, c := range []struct {
		to, from, n int
		overlaps    bool
	}{{0, 10, 10, false}, {10, 0, 10, false}, {0, 9, 10, true}, {9, 0, 10, true}, {0, 50, 50, false}, {50, 0, 50, false}, {7, 3, 8, true}} {
		want := devcheck.Pattern(100, 1)
		devcheck.Write(t, d, b, want)
		copy(want[c.to:], want[c.from:c.from+c.n])
		copies, buffers = 0, 0
		check.Must(t, d.Copy(devcheck.Part(b, c.to, c.n), devcheck.Part(b, c.from, c.n)))
		if c.overlaps != (copies == 2 && buffers == 1) || c.overlaps == (copies == 1 && buffers == 0) || inUse(d) != 100 {
			t.Errorf("%+v: %d copies, %d buffers, %d bytes in use", c, copies, buffers, inUse(d))
		}
		holds(t, d, b, want)
	}
	buffers = 0
	check.Wraps(t, d.Copy(devcheck.Part(b, 0, 11), devcheck.Part(b, 1, 11)), device.ErrOutOfMemory)
	check.Wraps(t, s.Copy(devcheck.Part(b, 0, 11), devcheck.Part(b, 1, 11)), device.ErrOutOfMemory)
	if buffers != 0 || inUse(d) != 100 {
		t.Error("the driver was asked for more than there is")
	}
}

// A queue moves what the CPU does not reach, and fine memory where that does not overlap. The caller's own memory
// is done with when the call returns.
func TestWhoCopies(t *testing.T) {
	m, other := make([]byte, 100), make([]byte, 100)
	of := &region{}
	buffer, coarse := place{region: of, mem: 1}, place{region: of, host: m[:50]}
	fine, far := place{region: of, host: m[:50], fine: true}, place{region: of, host: m[50:], fine: true}
	near := place{region: of, host: m[49:99], fine: true}
	mine, aside := place{host: other[:50]}, place{host: other[50:]}
	for i, c := range []struct {
		to, from         place
		byQueue, borrows bool
	}{
		{buffer, buffer, true, false}, {buffer, coarse, true, false}, {coarse, buffer, true, false},
		{buffer, mine, true, true}, {mine, buffer, true, true},
		{coarse, mine, false, true}, {mine, coarse, false, true}, {mine, aside, false, true}, {coarse, place{region: of, host: m[50:]}, false, false},
		{fine, far, true, false}, {fine, near, false, false}, {near, fine, false, false}, {fine, mine, true, true}, {mine, fine, true, true},
	} {
		if x := (&transfer{to: c.to, from: c.from, n: 50}); x.byQueue() != c.byQueue || x.borrows() != c.borrows {
			t.Errorf("copy %d: by a queue %t, borrows %t", i, x.byQueue(), x.borrows())
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
