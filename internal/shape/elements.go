package shape

import (
	"math"
	"math/bits"
	"reflect"
	"unsafe"
)

// Elements of a type in memory that is bytes.

// Unfit says why values of t cannot lie in a pool's memory, "" if they can. Alignment is no
// question: blocks lie at multiples of 16 bytes, and Go aligns no type to more than 8.
func Unfit(t reflect.Type) string {
	if at := Pointer(t); at != "" {
		return "holds pointers (" + at + ")"
	}
	if t.Size() == 0 {
		return "has no bytes"
	}
	return ""
}

// Bytes returns the bytes of n values of type T. It reports false if n is negative, or the bytes
// are more than an int can say.
func Bytes[T any](n int) (int, bool) {
	var zero T
	more, size := bits.Mul(uint(n), uint(unsafe.Sizeof(zero)))
	return int(size), n >= 0 && more == 0 && size <= math.MaxInt
}

// Elements returns m, which is long and aligned enough, as values of type T; nil is nil. Memory of
// no bytes lies anywhere.
func Elements[T any](m []byte) []T {
	var zero T
	switch {
	case m == nil:
		return nil
	case len(m) == 0:
		return []T{}
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(m))), len(m)/int(unsafe.Sizeof(zero)))
}
