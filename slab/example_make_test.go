package slab_test

import (
	"fmt"

	"github.com/bufslab/bufslab/slab"
)

func ExampleMake() {
	p, _ := slab.OpenConfig(slab.Config{Device: "mmap"})
	defer p.Close()
	type sample struct {
		Time  int64
		Value float32
	}
	s, err := slab.Make[sample](p, 1000)
	s.Slice()[999] = sample{7, 0.5}
	fmt.Println(s.Len(), s.Slice()[999], err)
	fmt.Println(s.Release())
	fmt.Println(s.Release())
	_, err = slab.Make[[]byte](p, 1000)
	fmt.Println(err)
	// Output:
	// 1000 {7 0.5} <nil>
	// <nil>
	// slab: PooledBuffer released already
	// slab: type []uint8 holds pointers (a slice): no element of pooled memory
}
