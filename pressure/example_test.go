package pressure_test

import (
	"fmt"
	"runtime/debug"

	"github.com/bufslab/bufslab/pressure"
	"github.com/bufslab/bufslab/slab"
)

// All pools of a process give back what they hold.
func Example() {
	p := slab.MustOpen("device=mmap,strategy=exact,name=frames")
	defer p.Close()
	b, _ := p.Get(1 << 20)
	b.Release()

	for p := range pressure.Pools() {
		fmt.Println(p.Name(), "holds", p.Stats().HeldBytes)
	}
	fmt.Println(pressure.FreeAll(), "bytes went back")
	// Output:
	// frames holds 1048576
	// 1048576 bytes went back
}

// The collector works as if the pools' memory were on the heap.
func ExampleAdjustMemoryLimit() {
	p := slab.MustOpen("device=mmap,strategy=exact")
	defer p.Close()
	b, _ := p.Get(128 << 20)
	defer b.Release()

	stop := pressure.AdjustMemoryLimit(512 << 20)
	fmt.Println(debug.SetMemoryLimit(-1)>>20, "MiB for the heap")
	stop()
	// Output: 384 MiB for the heap
}
