package slab_test

import (
	"fmt"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// usage prints where the bytes of a strategy are.
func usage(s slab.Allocator) {
	x := s.(slab.UsageReporter).Usage()
	fmt.Println("active", x.ActiveBytes, "rounding", x.RoundingBytes, "held", x.HeldBytes)
}

func ExampleNewStrategy_direct() {
	d, _ := device.Open("virtual")
	s, _ := slab.NewStrategy("direct", d, slab.Config{})
	b, _ := s.Alloc(1000)
	usage(s)
	s.Free(b)
	usage(s)
	// Output:
	// active 1000 rounding 0 held 0
	// active 0 rounding 0 held 0
}

func ExampleNewStrategy_exact() {
	d, _ := device.Open("virtual")
	s, _ := slab.NewStrategy("exact", d, slab.Config{MaxHeldBlocks: 2})
	for _, n := range []int{100, 200, 300} {
		b, _ := s.Alloc(n)
		s.Free(b)
	}
	usage(s) // the block of 100 bytes was held for longest
	// Output:
	// active 0 rounding 0 held 500
}

func ExampleNewStrategy_bitlog() {
	d, _ := device.Open("virtual")
	s, _ := slab.NewStrategy("bitlog", d, slab.Config{Bits: 4})
	b, _ := s.Alloc(1000)
	usage(s)
	s.Free(b)
	s.Alloc(1020) // of the same bin
	usage(s)
	// Output:
	// active 1000 rounding 23 held 0
	// active 1020 rounding 3 held 0
}

func ExampleNewStrategy_sizeclass() {
	d, _ := device.Open("virtual")
	s, _ := slab.NewStrategy("sizeclass", d, slab.Config{})
	b, _ := s.Alloc(100 << 10)
	usage(s)
	s.Free(b)
	s.Alloc(80 << 10) // borrows the block of 112 KiB
	usage(s)
	// Output:
	// active 102400 rounding 12288 held 0
	// active 81920 rounding 32768 held 0
}

func ExampleNewStrategy_bestfit() {
	d, _ := device.Open("virtual")
	s, _ := slab.NewStrategy("bestfit", d, slab.Config{})
	a, _ := s.Alloc(3000)
	b, _ := s.Alloc(1000)
	fmt.Println(a.Off, b.Off)
	s.Free(a)
	s.Free(b)
	c, _ := s.Alloc(4000) // both, merged
	fmt.Println(c.Off)
	// Output:
	// 0 3008
	// 0
}

func ExampleNewStrategy_slab() {
	d, _ := device.Open("virtual")
	s, _ := slab.NewStrategy("slab", d, slab.Config{})
	for range 4 {
		b, _ := s.Alloc(100) // of a slab of blocks of 112 bytes
		fmt.Print(b.Off, " ")
	}
	b, _ := s.Alloc(10000) // of the heap
	fmt.Println(b.Off, b.Len)
	// Output: 0 112 224 336 512 10000
}

func ExampleBitlog() {
	bins := slab.Bitlog(4)
	for _, n := range []int{1, 100, 1000, 1 << 20} {
		fmt.Println(n, "gets", bins.Size(bins.Index(n)))
	}
	// Output:
	// 1 gets 1
	// 100 gets 103
	// 1000 gets 1023
	// 1048576 gets 1114111
}

func ExampleGrid() {
	classes := slab.Grid(4, 0)
	for _, n := range []int{1, 100, 1000, 1 << 20} {
		fmt.Println(n, "gets", classes.Size(classes.Index(n)))
	}
	// Output:
	// 1 gets 16
	// 100 gets 128
	// 1000 gets 1024
	// 1048576 gets 1048576
}

// Two pools share a budget: what one holds goes when the other needs it.
func ExampleNewLimit_shared() {
	d, _ := device.Open("virtual")
	l := slab.NewLimit(d, 1<<20)
	one, _ := slab.Open(l, slab.Config{Strategy: "exact"})
	two, _ := slab.Open(l, slab.Config{Strategy: "exact"})
	b, _ := one.Get(1 << 20)
	b.Release()
	fmt.Println("one holds", one.Stats().HeldBytes)
	_, err := two.Get(1 << 20)
	fmt.Println("two:", err)
	fmt.Println("one holds", one.Stats().HeldBytes)
	// Output:
	// one holds 1048576
	// two: <nil>
	// one holds 0
}
