package upstream

import "iter"

// Layers goes through the sources that blocks of a come from as they are: a itself, what it passes
// through by a method Unwrap, and so on down.
func Layers[A Source](a A) iter.Seq[A] {
	return func(yield func(A) bool) {
		for yield(a) {
			u, ok := any(a).(interface{ Unwrap() A })
			if !ok {
				return
			}
			a = u.Unwrap()
		}
	}
}

// LayerOf returns the nearest layer of a that is a T.
func LayerOf[T any, A Source](a A) (t T, ok bool) {
	for l := range Layers(a) {
		if t, ok = any(l).(T); ok {
			break
		}
	}
	return t, ok
}
