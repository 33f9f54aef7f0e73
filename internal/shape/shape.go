// Package shape judges the shapes and the element types of arrays whose memory
// the garbage collector does not look into.
package shape

import (
	"math"
	"reflect"
)

// Size returns the elements of an array and its bytes, elem bytes an element.
// It reports false for a negative dimension and where the bytes are more than
// an int can say. No dimensions are one element; a dimension of 0 is none,
// however large the others are.
func Size(dims []int, elem int) (n, bytes int, ok bool) {
	n = 1
	for _, d := range dims {
		if d < 0 {
			return 0, 0, false
		}
		if d == 0 {
			n = 0
		}
	}
	for _, d := range dims {
		if n > 0 && n > math.MaxInt/d {
			return 0, 0, false
		}
		n *= d
	}
	if elem > 0 && n > math.MaxInt/elem {
		return 0, 0, false
	}
	return n, n * elem, true
}

// Plain reports whether values of t are bytes and nothing else: no pointers,
// nor strings, slices, maps, channels, functions and interfaces, at any depth.
func Plain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return t.Len() == 0 || Plain(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !Plain(t.Field(i).Type) {
				return false
			}
		}
		return true
	}
	return t.Kind() >= reflect.Bool && t.Kind() <= reflect.Complex128
}
