package shape

import (
	"math"
	"reflect"
	"testing"
)

// The bytes of elements are known where an int can say them.
func TestBytes(t *testing.T) {
	const huge = math.MaxInt
	for n, want := range map[int]int{0: 0, 1: 8, 100: 800, huge / 8: huge / 8 * 8} {
		if bytes, ok := Bytes[int64](n); bytes != want || !ok {
			t.Errorf("%d of 8: %d, %t", n, bytes, ok)
		}
	}
	for _, n := range []int{-1, math.MinInt, huge/8 + 1, huge / 4, huge/4 + 1, huge} { // the last but one is 2^64
		if bytes, ok := Bytes[int64](n); ok {
			t.Errorf("%d of 8: %d", n, bytes)
		}
	}
	if bytes, ok := Bytes[byte](huge); bytes != huge || !ok {
		t.Errorf("%d bytes, %t", bytes, ok)
	}
	if bytes, ok := Bytes[byte](-1); ok {
		t.Errorf("%d bytes", bytes)
	}
}

// Elements are the memory itself, as many as are whole in it.
func TestElements(t *testing.T) {
	words := []int64{1, 2, 3}
	m := Elements[byte](nil)
	if m != nil || Elements[int64](nil) != nil {
		t.Error("nothing has elements")
	}
	if e := Elements[int64]([]byte{}); e == nil || len(e) != 0 {
		t.Errorf("%v of no bytes", e)
	}
	if e := Elements[byte]([]byte{7}); len(e) != 1 || e[0] != 7 {
		t.Errorf("%v of a byte", e)
	}
	bytes := reinterpret(words)
	if e := Elements[int64](bytes[:23]); len(e) != 2 || &e[0] != &words[0] || e[1] != 2 {
		t.Errorf("%v of 23 bytes", e)
	}
	if e := Elements[int64](bytes); len(e) != 3 {
		t.Errorf("%v of 24 bytes", e)
	}
}

func reinterpret(words []int64) []byte {
	return reflect.SliceAt(reflect.TypeFor[byte](), reflect.ValueOf(words).UnsafePointer(), 8*len(words)).Bytes()
}

// Types with pointers do not lie in a pool's memory, nor do those of no bytes.
func TestUnfit(t *testing.T) {
	for want, v := range map[string]any{"": [2]int8{}, "has no bytes": struct{}{}, "holds pointers (a string)": ""} {
		if got := Unfit(reflect.TypeOf(v)); got != want {
			t.Errorf("%T: %q, want %q", v, got, want)
		}
	}
}
