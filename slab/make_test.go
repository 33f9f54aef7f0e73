package slab

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

type point struct {
	X, Y float64
	Tag  byte
}

// checkMade makes n values, which must be aligned, all there, and apart from others.
func checkMade[T comparable](t *testing.T, p *Pool, n int, v T) {
	t.Helper()
	s, err := Make[T](p, n)
	if err != nil {
		t.Fatal(err)
	}
	other, _ := Make[T](p, n)
	all := s.Slice()
	if s.Len() != n || len(all) != n || cap(all) != n || uintptr(unsafe.Pointer(unsafe.SliceData(all)))%unsafe.Alignof(v) != 0 {
		t.Errorf("%d values: Len %d, slice of %d, capacity %d, at %p", n, s.Len(), len(all), cap(all), all)
	}
	for i := range all {
		all[i] = v
	}
	clear(other.Slice())
	for i := range all {
		if all[i] != v {
			t.Fatalf("element %d became %v", i, all[i])
		}
	}
	mustRelease(t, other.buffer)
	if first, second := s.Release(), s.Release(); first != nil || second != ErrReleased {
		t.Errorf("released: %v, %v", first, second)
	}
	if s.Slice() != nil || s.Len() != n {
		t.Errorf("after Release: %v, Len %d", s.Slice(), s.Len())
	}
}

// The elements are aligned and as many as asked for; a Slice is released once.
func TestMake(t *testing.T) {
	everyStack(t, func(t *testing.T, dev string, c Config) {
		p := openPool(t, dev, c)
		if dev == "virtual" || dev == "sim" {
			_, err := Make[int64](p, 100)
			if !errors.Is(err, device.ErrUnavailable) {
				t.Errorf("memory that the CPU does not reach: %v", err)
			}
			checkNoneOut(t, p)
			return
		}
		for _, n := range []int{0, 1, 3, 1000, 100_000} {
			checkMade(t, p, n, byte(200))
			checkMade(t, p, n, int64(-1))
			checkMade(t, p, n, complex(1, 2))
			checkMade(t, p, n, point{1, 2, 3})
			checkMade(t, p, n, [3]uint16{1, 2, 3})
		}
		checkNoneOut(t, p)
	})
}

// What cannot be made is refused before the pool is asked.
func TestMakeRefuses(t *testing.T) {
	p := openPool(t, "heap", Config{})
	_, pointers := Make[struct{ Name string }](p, 1)
	_, pointer := Make[*int](p, 0)
	_, none := Make[struct{}](p, 1)
	_, negative := Make[int32](p, -1)
	_, large := Make[int64](p, math.MaxInt/8+1)
	_, wrapped := Make[int64](p, math.MaxInt/4+1) // of all its bytes an int has the low bits left, which are 0
	for _, c := range []struct {
		err, is error
		says    string
	}{
		{pointers, ErrElement, "struct { Name string } holds pointers (field Name string)"},
		{pointer, ErrElement, "*int holds pointers"},
		{none, ErrElement, "struct {} has no bytes"},
		{negative, ErrSize, "-1 values of type int32"},
		{large, ErrSize, "values of type int64"},
		{wrapped, ErrSize, "values of type int64"},
	} {
		if !errors.Is(c.err, c.is) || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%v, want %q", c.err, c.says)
		}
	}
	if s := p.Stats(); s.Hits+s.Misses != 0 {
		t.Errorf("the pool was asked: %+v", s)
	}
}

// The errors of the pool are those of Make, and nothing stays allocated.
func TestMakeWithoutAPoolThatGives(t *testing.T) {
	if _, err := Make[int](nil, 1); !errors.Is(err, ErrClosed) {
		t.Errorf("of no pool: %v", err)
	}
	p := openPool(t, "heap", Config{MaxBytes: 1 << 20})
	var full *OutOfMemoryError
	if s, err := Make[int32](p, 1<<20); !errors.As(err, &full) || s != (Slice[int32]{}) {
		t.Errorf("beyond max_bytes: %v, %v", s, err)
	}
	checkNoneOut(t, p)
}

// Config.Zero clears the elements.
func TestMakeZeroed(t *testing.T) {
	p := openPool(t, "heap", Config{Zero: true})
	for range 3 {
		s, _ := Make[point](p, 100)
		for i := range s.Slice() {
			if s.Slice()[i] != (point{}) {
				t.Fatal("not cleared")
			}
			s.Slice()[i].X = 5
		}
		s.Release()
	}
}

// The zero Slice has no elements and counts as released; so has one of a type that Make refuses.
func TestZeroSlice(t *testing.T) {
	var s Slice[int]
	var none Slice[struct{}]
	if s.Len() != 0 || s.Slice() != nil || s.Release() != ErrReleased || none.Len() != 0 || none.Slice() != nil {
		t.Error("the zero Slice has something")
	}
}

// The types that were found good cost nothing to look up.
func TestMakeAllocatesNothing(t *testing.T) {
	if raceEnabled || sanitized {
		t.Skip("The race detector and asan instrument every access: what is counted here is not what programs have.")
	}
	p := openPool(t, "heap", Config{})
	if n := check.Allocs(100, func() {
		s, _ := Make[point](p, 100)
		s.Slice()[0].X = 1
		s.Release()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
