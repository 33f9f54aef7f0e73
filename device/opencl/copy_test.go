package opencl

import (
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// Bytes that overlap move as if by way of somewhere else, as those of every
// device do, at once and in a stream.
func TestOverlappingCopies(t *testing.T) {
	const n = 1000
	for _, form := range formNames() {
		t.Run(form, func(t *testing.T) {
			d := opened(t, form, unchanged)
			s := mustStream(t, d)
			b := mustAlloc(t, d, n)
			defer d.Free(b)
			for _, c := range [][3]int{{0, 1, n - 1}, {1, 0, n - 1}, {0, n / 2, n / 2}, {300, 100, 400}, {100, 300, 400}, {5, 5, 100}} {
				for what, move := range map[string]func(dst, src device.Block) error{
					"Device": d.Copy,
					"Stream": func(dst, src device.Block) error { must(t, s.Copy(dst, src)); return s.Sync() },
				} {
					want := pattern(n, 1)
					put(t, d, b, want)
					copy(want[c[0]:c[0]+c[2]], want[c[1]:c[1]+c[2]])
					if err := move(part(b, c[0], c[2]), part(b, c[1], c[2])); err != nil {
						t.Fatalf("%s.Copy of %d bytes from %d to %d: %v", what, c[2], c[1], c[0], err)
					}
					holds(t, d, b, want)
				}
			}
		})
	}
}

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
			b := mustAlloc(t, d, n)
			defer d.Free(b)
			blocks = append(blocks, b)
		}
		any = d
	}
	for _, name := range []string{"heap", "mmap"} {
		d, err := device.Open(name)
		must(t, err)
		b, err := d.Alloc(n)
		must(t, err)
		defer d.Free(b)
		blocks = append(blocks, b)
	}
	s := mustStream(t, any)
	for i, from := range blocks {
		for k, to := range blocks {
			if i == k {
				continue
			}
			put(t, any, from, pattern(n, i))
			must(t, any.Copy(part(to, 7, n-7), part(from, 0, n-7)))
			holds(t, any, part(to, 7, n-7), pattern(n, i)[:n-7])
			must(t, s.Copy(part(to, 0, n-9), part(from, 9, n-9)))
			must(t, s.Sync())
			holds(t, any, part(to, 0, n-9), pattern(n, i)[9:])
		}
	}
}

// Memory of the same hardware, but of a context that was lost meanwhile or belongs to
// another, cannot be reached and is not touched.
func TestCopiesOfAnotherContext(t *testing.T) {
	a, b := opened(t, "", unchanged), opened(t, "", unchanged)
	x, y := mustAlloc(t, a, 10), mustAlloc(t, b, 10)
	wants(t, a.Copy(x, y), device.ErrUnavailable)
	wants(t, a.Copy(y, x), device.ErrUnavailable)
	_, err := a.SubBuffer(y)
	wants(t, err, device.ErrUnavailable)
	a.Free(x)
	b.Free(y)
}

// Work on no bytes is none, and keeps no region.
func TestNothingIsMoved(t *testing.T) {
	for _, form := range formNames() {
		t.Run(form, func(t *testing.T) {
			d := opened(t, form, unchanged)
			b, s := mustAlloc(t, d, 10), mustStream(t, d)
			must(t, d.Copy(part(b, 3, 0), part(b, 10, 0)))
			must(t, s.Copy(part(b, 3, 0), device.Block{}))
			must(t, s.Fill(part(b, 10, 0), 1))
			must(t, s.Sync())
			d.Free(b)
			if n := b.Region.(owned).base().uses.Load(); n != 0 {
				t.Errorf("%d calls still hold the region", n)
			}
		})
	}
}

// Pinned memory takes no room of the device.
func TestPinnedMemoryIsOfTheMachine(t *testing.T) {
	d := opened(t, "", unchanged)
	b := mustAlloc(t, d.pinned, 1000)
	defer d.pinned.Free(b)
	free, total, err := d.MemInfo()
	must(t, err)
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
		real := *a
		a.EnqueueWriteBuffer = func(q queueID, m memID, wait uint32, off, size uintptr, host unsafe.Pointer, n uint32, after, done *eventID) code {
			if fail != 0 {
				return fail
			}
			return real.EnqueueWriteBuffer(q, m, wait, off, size, host, n, after, done)
		}
		a.EnqueueReadBuffer = func(q queueID, m memID, wait uint32, off, size uintptr, host unsafe.Pointer, n uint32, after, done *eventID) code {
			if fail != 0 {
				return fail
			}
			return real.EnqueueReadBuffer(q, m, wait, off, size, host, n, after, done)
		}
		a.EnqueueCopyBuffer = func(q queueID, src, dst memID, from, to, size uintptr, n uint32, after, done *eventID) code {
			if fail != 0 {
				return fail
			}
			return real.EnqueueCopyBuffer(q, src, dst, from, to, size, n, after, done)
		}
	})
	b, host := mustAlloc(t, d, 100), device.Host(make([]byte, 100))
	put(t, d, b, pattern(100, 1))
	before := l
	for k, want := range map[code]error{-5: device.ErrOutOfMemory, -4: device.ErrOutOfMemory, -30: device.ErrUnavailable} {
		for _, c := range [][2]device.Block{{b, host}, {host, b}, {part(b, 0, 50), part(b, 50, 50)}, {part(b, 0, 99), part(b, 1, 99)}} {
			s := mustStream(t, d)
			fail = k
			wants(t, d.Copy(c[0], c[1]), want)
			wants(t, s.Copy(c[0], c[1]), want)
			fail = 0
			wants(t, s.Sync(), want)
			_, err := s.Record()
			wants(t, err, want)
			wants(t, s.Fill(b, 0), want)
			must(t, s.Close())
		}
	}
	holds(t, d, b, pattern(100, 1))
	if l != before {
		t.Errorf("%+v, and there were %+v", l, before)
	}
	d.Free(b)
	if n := b.Region.(*Buffer).uses.Load(); n != 0 {
		t.Errorf("%d calls still hold the region", n)
	}
}
