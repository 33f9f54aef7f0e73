package slab_test

import (
	"fmt"

	"github.com/bufslab/bufslab/slab"
)

// What a part of a program takes, and how much of that at a time.
func ExamplePool_Push() {
	p, _ := slab.OpenConfig(slab.Config{Statistics: true})
	defer p.Close()
	p.Push()
	for range 3 {
		a, _ := p.Get(1000)
		b, _ := p.Get(500)
		a.Release()
		b.Release()
	}
	fmt.Println(p.Pop())
	// Output: 6 allocs, 6 frees, 0 bytes now, 1500 at most
}
