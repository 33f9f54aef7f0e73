package device

import (
	"math"
	"testing"
)

func TestVirtualHasAnyCapacity(t *testing.T) {
	d := opened(t, "virtual")
	a := allocated(t, d, math.MaxInt/2)
	b := allocated(t, d, math.MaxInt/2)
	free, total, err := d.MemInfo()
	if want := total - 2*int64(math.MaxInt/2); err != nil || total != math.MaxInt64 || free != want {
		t.Errorf("%d of %d free, %v, want %d", free, total, err, want)
	}
	d.Free(a)
	d.Free(b)
}

func TestVirtualCapacityIsExact(t *testing.T) {
	d := opened(t, "virtual:10000")
	a := allocated(t, d, 5904)
	g, err := d.(Reserver).Reserve(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Commit(0, 4096); err != nil {
		t.Fatal(err)
	}
	wantErr(t, g.Commit(0, 8192), ErrOutOfMemory)
	_, err = d.Alloc(1)
	wantErr(t, err, ErrOutOfMemory)
	d.Free(a)
	if err := g.Commit(0, 8192); err != nil {
		t.Errorf("commit of a page that is there and one that fits: %v", err)
	}
	if free, _, _ := d.MemInfo(); free != 10000-8192 {
		t.Errorf("%d bytes free with 8192 of 10000 committed", free)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	d.Free(allocated(t, d, 10000))
}

func TestFixedCannotReserve(t *testing.T) {
	for _, name := range []string{"virtual:fixed", "virtual:fixed,1GiB", "mmap:fixed"} {
		_, err := opened(t, name).(Reserver).Reserve(1 << 20)
		wantErr(t, err, ErrUnavailable)
	}
}

func TestReserveIsAsLongAsCanBe(t *testing.T) {
	for _, name := range []string{"virtual", "mmap"} {
		t.Run(name, func(t *testing.T) {
			g, err := opened(t, name).(Reserver).Reserve(math.MaxInt)
			if err != nil {
				t.Fatal(err)
			}
			if n := g.Region().Size(); n < 1<<20 || n > addressable {
				t.Errorf("a range of %d bytes", n)
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestVirtualHasNoContents(t *testing.T) {
	d := opened(t, "virtual")
	b := allocated(t, d, 10)
	s, _ := d.NewStream()
	wantErr(t, d.Copy(b, b), ErrUnavailable)
	wantErr(t, s.Fill(b, 1), ErrUnavailable)
	wantErr(t, s.Sync(), ErrUnavailable)
	wantErr(t, s.Wait(past{}), ErrUnavailable)
	if Bytes(b) != nil {
		t.Error("a virtual block has bytes")
	}
}

// Every step is compared with a set that has one entry a number.
func TestSpansAreASet(t *testing.T) {
	const size = 40
	var s spans
	var model [size]bool
	state := uint32(1)
	for range 20000 {
		state = state*1664525 + 1013904223
		lo := int(state>>8) % size
		hi := lo + 1 + int(state>>20)%(size-lo)
		in := state>>30 == 0 || state>>30 == 2
		n := 0
		for i := lo; i < hi; i++ {
			if model[i] {
				n++
			}
			model[i] = in
		}
		if got := s.overlap(lo, hi); got != n {
			t.Fatalf("%v overlaps [%d,%d) in %d numbers, not %d", s, lo, hi, got, n)
		}
		if in {
			s.add(lo, hi)
		} else {
			s.remove(lo, hi)
		}
		checkSpans(t, s, model[:])
	}
}

func checkSpans(t *testing.T, s spans, model []bool) {
	t.Helper()
	for i := range model {
		if got := s.overlap(i, i+1) == 1; got != model[i] {
			t.Fatalf("%v holds %d: %v, want %v", s, i, got, model[i])
		}
	}
	for i := 1; i < len(s); i++ {
		if s[i-1].hi >= s[i].lo {
			t.Fatalf("%v: spans touch", s)
		}
	}
}

func BenchmarkVirtual(b *testing.B) {
	d := opened(b, "virtual")
	for b.Loop() {
		x, _ := d.Alloc(4096)
		d.Free(x)
	}
}
