// Package shape judges the shapes and the element types of arrays whose memory
// the garbage collector does not look into.
package shape

import (
	"fmt"
	"math"
	"reflect"
	"sync"
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

// plain has the types that Pointer has found to be bytes: to look at the fields of a struct
// takes as long as several Gets of a pool.
var plain sync.Map

// Pointer says where values of t hold what the collector has to follow: a
// pointer, string, slice, map, channel, function or interface, at any depth.
// It is "" for values that are bytes and nothing else.
func Pointer(t reflect.Type) string {
	if _, is := plain.Load(t); is {
		return ""
	}
	at := pointer(t)
	if at == "" {
		plain.Store(t, nil)
	}
	return at
}

func pointer(t reflect.Type) string {
	switch k := t.Kind(); {
	case k == reflect.Array && t.Len() == 0:
		return ""
	case k == reflect.Array:
		return pointer(t.Elem())
	case k == reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); pointer(f.Type) != "" {
				return fmt.Sprintf("field %s %v", f.Name, f.Type)
			}
		}
		return ""
	case k >= reflect.Bool && k <= reflect.Complex128:
		return ""
	default:
		return "a " + k.String()
	}
}
