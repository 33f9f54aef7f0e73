package upstream

import (
	"iter"

	"github.com/bufslab/bufslab/device"
)

// Layers goes through the sources that blocks of a come from as they are: a itself, what it passes
// through by a method Unwrap, and so on down.
func Layers(a device.Allocator) iter.Seq[device.Allocator] {
	return func(yield func(device.Allocator) bool) {
		for yield(a) {
			u, ok := a.(interface{ Unwrap() device.Allocator })
			if !ok {
				return
			}
			a = u.Unwrap()
		}
	}
}

// LayerOf returns the nearest layer of a that is a T.
func LayerOf[T any](a device.Allocator) (t T, ok bool) {
	for l := range Layers(a) {
		if t, ok = l.(T); ok {
			break
		}
	}
	return t, ok
}

// Shrink gives back about n bytes of the nearest layer of a that shrinks, what was held longest first,
// else all of one that holds memory. It is no method of Forward: wrappers would export it.
func Shrink(a device.Allocator, n int64) {
	if s, ok := LayerOf[interface{ Shrink(n int64) }](a); ok {
		s.Shrink(n)
	} else if h, ok := LayerOf[holder](a); ok {
		h.FreeHeld()
	}
}
