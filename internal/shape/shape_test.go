package shape

import (
	"math"
	"reflect"
	"testing"
	"unsafe"
)

func TestSize(t *testing.T) {
	const huge = math.MaxInt
	for _, c := range []struct {
		dims     []int
		elem     int
		n, bytes int
		ok       bool
	}{
		{nil, 4, 1, 4, true},
		{[]int{10, 20}, 4, 200, 800, true},
		{[]int{4, 5, 6}, 8, 120, 960, true},
		{[]int{0}, 8, 0, 0, true},
		{[]int{huge, huge, 0}, 8, 0, 0, true},
		{[]int{5}, 0, 5, 0, true},
		{[]int{huge}, 1, huge, huge, true},
		{[]int{huge}, 2, 0, 0, false},
		{[]int{huge/2 + 1, 2}, 1, 0, 0, false},
		{[]int{-1}, 1, 0, 0, false},
		{[]int{0, -1}, 1, 0, 0, false},
		{[]int{-1, -1}, 1, 0, 0, false},
	} {
		n, bytes, ok := Size(c.dims, c.elem)
		if n != c.n || bytes != c.bytes || ok != c.ok {
			t.Errorf("%v of %d bytes: %d, %d, %v", c.dims, c.elem, n, bytes, ok)
		}
	}
}

func TestPointer(t *testing.T) {
	type point struct {
		X, Y float32
		Tag  [3]uint8
	}
	for _, v := range []any{true, int8(1), uint64(1), uintptr(1), 1.5, complex64(1), 1i, [2]int{}, point{}, struct{}{}, [0]*int{}} {
		if at := Pointer(reflect.TypeOf(v)); at != "" {
			t.Errorf("%T holds %s", v, at)
		}
	}
	for want, v := range map[string]any{
		"a string": "", "a slice": []int{}, "a map": map[int]int{}, "a ptr": new(int), "a chan": make(chan int),
		"a func": func() {}, "a unsafe.Pointer": unsafe.Pointer(nil), "field error error": struct{ error }{},
		"field S []uint8": [1]struct {
			P point
			S []byte
		}{},
	} {
		if at := Pointer(reflect.TypeOf(v)); at != want {
			t.Errorf("%T holds %q, not %q", v, at, want)
		}
	}
}
