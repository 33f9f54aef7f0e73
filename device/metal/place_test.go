package metal

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
)

// Words are where n bytes from an offset lie, and no more than those.
func TestWords(t *testing.T) {
	for x, want := range map[[2]int][2]int{
		{0, 1}: {0, 4}, {0, 4}: {0, 4}, {3, 1}: {0, 4}, {3, 2}: {0, 8}, {4, 4}: {4, 8}, {5, 3}: {4, 8}, {7, 10}: {4, 20}, {8, 9}: {8, 20},
	} {
		if lo, hi := words(x[0], x[1]); [2]int{lo, hi} != want {
			t.Errorf("%d bytes from %d are in words from %d to %d", x[1], x[0], lo, hi)
		}
	}
}

// The GPU copies words that do not overlap, of buffers that it reaches, and nothing is not copied at all.
func TestWhatTheGPUCopies(t *testing.T) {
	a, b, host := &Buffer{}, &Buffer{}, []byte{}
	for _, c := range []struct {
		to, from place
		n        int
		byGPU    bool
		nothing  bool
	}{
		{place{buf: a}, place{buf: b}, 8, true, false},
		{place{buf: a, off: 4}, place{buf: b}, 8, true, false},
		{place{buf: a, host: host}, place{buf: b, host: host}, 8, true, false},
		{place{buf: a, off: 2}, place{buf: b}, 8, false, false},
		{place{buf: a}, place{buf: b, off: 6}, 8, false, false},
		{place{buf: a}, place{buf: b}, 6, false, false},
		{place{buf: a}, place{host: host}, 8, false, false},
		{place{host: host}, place{buf: b}, 8, false, false},
		{place{buf: a}, place{buf: a, off: 8}, 8, true, false}, // neighbours
		{place{buf: a, off: 8}, place{buf: a}, 8, true, false},
		{place{buf: a}, place{buf: a, off: 4}, 8, false, false},
		{place{buf: a, off: 4}, place{buf: a}, 8, false, false},
		{place{buf: a, off: 4}, place{buf: a, off: 4}, 8, false, true},
		{place{buf: a, off: 4}, place{buf: b, off: 4}, 8, true, false},
		{place{buf: a}, place{buf: b}, 0, true, true},
		{place{host: host}, place{host: host}, 8, false, false},
	} {
		x := transfer{c.to, c.from, c.n}
		if x.nothing() != c.nothing || !c.nothing && x.byGPU() != c.byGPU {
			t.Errorf("%d bytes to %+v from %+v: by the GPU %t, nothing %t", c.n, c.to, c.from, x.byGPU(), x.nothing())
		}
	}
}

// A copy by way of a stage that has no room for all of it is made in pieces, from the end that is overwritten last.
func TestCopiesInPieces(t *testing.T) {
	const n = 2*stageBytes + 77
	d := opened(t, "metal:0:private")
	b := allocated(t, d, n+9)
	for _, c := range [][2]int{{0, 3}, {3, 0}, {1, 9}, {9, 1}} {
		want := devcheck.Pattern(n+9, c[0])
		check.Must(t, d.Copy(b, device.Host(want)))
		check.Must(t, d.Copy(devcheck.Part(b, c[0], n), devcheck.Part(b, c[1], n)))
		copy(want[c[0]:], want[c[1]:c[1]+n])
		check.Same(t, devcheck.Read(t, d, b), want, "bytes")
	}
}

// Copies that come one after the other share what they go by way of.
func TestCopiesShareAStage(t *testing.T) {
	d := check.Ok(openOn(anew(t), "0:private"))(t)
	b := allocated(t, d, 9)
	for range 3 {
		check.Must(t, d.Copy(b, device.Host(make([]byte, 9))))
	}
	if n := len(d.hw.stages); n != 1 {
		t.Errorf("there are %d", n)
	}
}

// A stream accepts what it reaches, and no bytes of anything, and keeps none of it.
func TestAccepts(t *testing.T) {
	d := opened(t, "metal:0:private")
	a, gone := devcheck.Alloc(t, d, 8), devcheck.Alloc(t, d, 8)
	d.Free(gone)
	s := streamOn(t, d)
	for _, b := range []device.Block{{}, a, devcheck.Part(a, 7, 1), device.Host([]byte{1}), devcheck.Part(gone, 1, 0)} {
		check.Must(t, s.Accepts(b))
	}
	for _, b := range []device.Block{gone, devcheck.Part(gone, 1, 1)} {
		check.Wraps(t, s.Accepts(b), device.ErrUnavailable)
	}
	d.Free(a)
	if n := a.Region.(*Buffer).life.Uses(); n != 0 {
		t.Errorf("%d calls still hold the region", n)
	}
	check.Must(t, s.Close())
	check.Wraps(t, s.Accepts(device.Block{}), device.ErrClosed)
}

// What is written to words in part is read first, and nothing else is.
func TestCopiesReadTheEdgesOnly(t *testing.T) {
	d := check.Ok(openOn(anew(t), "0:private"))(t)
	b := allocated(t, d, 64)
	check.Must(t, d.Copy(b, device.Host(make([]byte, 64)))) // which makes the stage
	a, call := d.hw.api, d.hw.call
	var commits, copies int
	a.call = func(fn uintptr, args ...uintptr) (r1, r2, errno uintptr) {
		switch {
		case fn == a.send && args[1] == a.sel[selCommit]:
			commits++
		case fn == a.send && args[1] == a.sel[selCopy]:
			copies++
		}
		return call(fn, args...)
	}
	for _, c := range []struct{ off, n, commits, copies int }{{0, 8, 1, 1}, {4, 4, 1, 1}, {1, 2, 2, 2}, {5, 3, 2, 2}, {1, 8, 2, 3}, {4, 5, 2, 3}} {
		commits, copies = 0, 0
		check.Must(t, d.Copy(devcheck.Part(b, c.off, c.n), device.Host(make([]byte, c.n))))
		if commits != c.commits || copies != c.copies {
			t.Errorf("%d bytes at %d: %d command buffers of %d copies", c.n, c.off, commits, copies)
		}
	}
}
