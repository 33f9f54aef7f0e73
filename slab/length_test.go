package slab

import (
	"testing"

	"github.com/bufslab/bufslab/device"
)

// A small block goes back with the length it was handed out with, or not at all: Usage
// counts by it.
func TestFreeOfASmallBlockWantsItsLength(t *testing.T) {
	for _, name := range []string{"sizeclass", "slab"} {
		d, err := device.Open("heap")
		if err != nil {
			t.Fatal(err)
		}
		a := newStrategy(d, Config{Strategy: name}.withDefaults())
		b, err := a.Alloc(10)
		if err != nil {
			t.Fatal(err)
		}
		before := a.(User).Usage()
		for _, n := range []int{1, 9, 11, 16} {
			wrong := b
			wrong.Len = n
			if !doesPanic(func() { a.Free(wrong) }) {
				t.Errorf("%s: Free of %d bytes, of a block of 10, did not panic", name, n)
			}
		}
		if now := a.(User).Usage(); now != before {
			t.Errorf("%s: %+v, before %+v", name, now, before)
		}
		a.Free(b)
	}
}

func doesPanic(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}
