package adapt_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/adapt"
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// fill writes what no cleared byte is.
func fill(b []byte) {
	for i := range b {
		b[i] = 0xaa
	}
}

// isZero reports whether all bytes are 0.
func isZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

func TestArrowClearsAndAligns(t *testing.T) {
	for _, line := range lines {
		p := open(t, line)
		a := adapt.Arrow(p)
		for range 3 {
			var out [][]byte
			for _, n := range []int{1, 16, 48, 63, 64, 65, 80, 100, 144, 1000, 1040, 5008, 40_000, 40_016, 1<<20 + 16} {
				b := a.Allocate(n)
				if len(b) != n || cap(b) != n || !isZero(b) || address(b)%64 != 0 {
					t.Errorf("%s: of %d bytes %d, cap %d, at %#x, cleared: %v", line, n, len(b), cap(b), address(b), isZero(b))
				}
				fill(b)
				out = append(out, b)
			}
			for _, b := range out {
				a.Free(b)
			}
		}
		even(t, line, p)
	}
}

// A slice takes the next multiple of 64 bytes, and no more.
func TestArrowTakesMultiplesOf64(t *testing.T) {
	p := open(t, "")
	a := adapt.Arrow(p)
	for size, takes := range map[int]int64{1: 64, 63: 64, 64: 64, 65: 128, 128: 128, 4096: 4096, 4097: 4160} {
		b := a.Allocate(size)
		if n := p.Stats().ActiveBytes; n != takes {
			t.Errorf("%d bytes take %d, want %d", size, n, takes)
		}
		a.Free(b)
		b = a.Reallocate(size, a.Reallocate(1, nil))
		if n := p.Stats().ActiveBytes; n != takes {
			t.Errorf("grown to %d bytes it takes %d, want %d", size, n, takes)
		}
		a.Free(b)
	}
}

// A pool in which there is room for little is no worse than one without.
func TestArrowOverPoolsWithLittleRoom(t *testing.T) {
	for _, strategy := range []string{"direct", "exact", "bitlog"} {
		p := open(t, "device=mmap,max_bytes=64KiB,strategy="+strategy) // a page at least, on every system
		for p.Stats().Failed == 0 {
			a := adapt.Arrow(p)
			if b, err := p.GetBytes(1); err == nil {
				defer a.Free(b)
			}
		}
	}
}

func TestArrowRefusesPoolsThatAlignLess(t *testing.T) {
	for _, line := range []string{"strategy=bestfit,align=16", "device=mmap,strategy=bestfit,align=16"} {
		p := open(t, line)
		if text, _ := panics(t, func() { adapt.Arrow(p) }).(string); !strings.Contains(text, "align=64") {
			t.Errorf("%s: %q", line, text)
		}
		even(t, line, p)
	}
}

func TestArrowWithoutBytes(t *testing.T) {
	p := open(t, "strict=true")
	a := adapt.Arrow(p)
	before := p.Stats()
	b := a.Allocate(0)
	a.Free(b)
	a.Free(b)
	a.Free(nil)
	if s := p.Stats(); b == nil || len(b) != 0 || s != before {
		t.Errorf("%v, %+v", b, s)
	}
	b = a.Reallocate(100, a.Reallocate(0, nil))
	if len(b) != 100 || !isZero(b) {
		t.Error(b)
	}
	a.Free(a.Reallocate(0, b))
	even(t, "", p)
	for _, f := range []func(){func() { a.Allocate(-1) }, func() { a.Reallocate(-1, nil) }} {
		panics(t, f)
	}
}

func TestArrowReallocates(t *testing.T) {
	for _, line := range lines {
		p := open(t, line)
		a := adapt.Arrow(p)
		for range 2 {
			b := a.Allocate(10)
			for _, n := range []int{20, 64, 40, 65, 50, 128, 1000, 900, 1000, 4096, 60_000, 5, 100_000, 3 << 20} {
				fill(b)
				old, at := len(b), address(b)
				room := cap(b) >= n
				b = a.Reallocate(n, b)
				kept := min(old, n)
				if len(b) != n || address(b)%64 != 0 || bytes.Count(b[:kept], []byte{0xaa}) != kept || !isZero(b[kept:]) {
					t.Fatalf("%s: %d bytes from %d to %d, at %#x", line, len(b), old, n, address(b))
				}
				if room && address(b) != at {
					t.Errorf("%s: moved from %d to %d bytes", line, old, n)
				}
			}
			a.Free(b)
		}
		even(t, line, p)
	}
}

// Grow decides whether memory moves: here there is room after it.
func TestArrowGrowsInPlace(t *testing.T) {
	a := adapt.Arrow(open(t, "device=mmap,strategy=bestfit,align=64,cache_bytes=0"))
	b := a.Allocate(1 << 20)
	if c := a.Reallocate(2<<20, b); address(c) != address(b) {
		t.Error("the memory moved")
	}
}

func TestArrowReallocatesForeignSlices(t *testing.T) {
	p := open(t, "")
	a := adapt.Arrow(p)
	for within := range 8 { // of the capacity they stay where they are, and are not for the pool
		m := make([]byte, 7)
		if b := a.Reallocate(within, m[:1]); len(b) != within || address(b) != address(m) || p.Stats().ForeignPuts != 0 {
			t.Errorf("%d bytes of 7, %+v", len(b), p.Stats())
		}
	}
	b := a.Reallocate(1000, []byte("foreign"))
	if string(b[:7]) != "foreign" || !isZero(b[7:]) || p.Stats().ForeignPuts != 1 {
		t.Errorf("%q, %+v", b[:7], p.Stats())
	}
	a.Free(b)
	if s := p.Stats(); s.ActiveBlocks != 0 {
		t.Errorf("%+v", s)
	}
}

// In a strict pool the refusal panics, and nothing is out afterwards.
func TestArrowReallocatesForeignSlicesStrictly(t *testing.T) {
	p := open(t, "strict=true")
	a := adapt.Arrow(p)
	panics(t, func() { a.Reallocate(1000, []byte("foreign")) })
	if s := p.Stats(); s.ActiveBlocks != 0 || s.ForeignPuts != 1 {
		t.Errorf("%+v", s)
	}
}

// Without room Arrow panics with the pool's error, and what it was called with stays.
func TestArrowWithoutRoom(t *testing.T) {
	p := open(t, "max_bytes=1MiB")
	a := adapt.Arrow(p)
	b := a.Allocate(600_000)
	fill(b)
	for _, f := range []func(){func() { a.Allocate(600_000) }, func() { a.Reallocate(800_000, b) }} {
		if err, _ := panics(t, f).(error); !errors.Is(err, device.ErrOutOfMemory) {
			t.Error(err)
		}
	}
	_ = p.Close()
	for _, f := range []func(){func() { a.Allocate(1) }, func() { a.Reallocate(700_000, b) }} {
		if err, _ := panics(t, f).(error); !errors.Is(err, slab.ErrClosed) {
			t.Error(err)
		}
	}
	if bytes.Count(b, []byte{0xaa}) != len(b) {
		t.Error("the contents changed")
	}
	a.Free(b)
	even(t, "", p)
}
