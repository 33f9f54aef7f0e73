package slab_test

import (
	"fmt"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

func Example() {
	p, err := slab.OpenConfig(slab.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	b, _ := p.Get(1000)
	copy(b.Bytes(), "hello")
	fmt.Println(b.Len(), string(b.Bytes()[:5]))
	fmt.Println(b.Release())
	fmt.Println(b.Release())
	// Output:
	// 1000 hello
	// <nil>
	// slab: PooledBuffer released already
}

func ExampleOpen() {
	d, _ := device.Open("heap")
	p, err := slab.Open(d, slab.Config{Strategy: "bestfit", MaxBytes: 1 << 20})
	fmt.Println(err)
	b, _ := p.GetZeroed(100)
	fmt.Println(b.Bytes()[99])
	_, err = p.Get(2 << 20)
	fmt.Println(err)
	fmt.Println(b.Release(), p.Close(), d.Close())
	// Output:
	// <nil>
	// 0
	// slab: pool device=heap,strategy=bestfit,max_bytes=1MiB: no room for 2097152 bytes (a block of 2097152), 65408 held, 100 active: slab: limit of 1048576 bytes, 65536 in use, 2097152 asked: out of memory
	// <nil> <nil> <nil>
}

func ExampleOpen_error() {
	d, _ := device.Open("heap")
	_, err := slab.Open(d, slab.Config{Strategy: "exact", Bits: 3, Steps: 5})
	fmt.Println(err)
	// Output:
	// slab: config: 3 faults: steps=5: want a power of two, 1 to 64; bits=3: strategy exact has no use for it, only bitlog; steps=5: strategy exact has no use for it, only sizeclass
}

// The memory is not recycled while the function runs, even if it is released.
func ExamplePooledBuffer_With() {
	p, _ := slab.OpenConfig(slab.Config{})
	b, _ := p.Get(3)
	err := b.With(func(m []byte) {
		b.Release()
		copy(m, "abc")
		fmt.Println(string(m))
	})
	fmt.Println(err)
	fmt.Println(b.With(func([]byte) {}))
	// Output:
	// abc
	// <nil>
	// slab: PooledBuffer released already
}

func ExamplePool_Stats() {
	p, _ := slab.OpenConfig(slab.Config{Strategy: "exact"})
	a, _ := p.Get(100)
	b, _ := p.Get(50)
	b.Release()
	b, _ = p.Get(50)
	s := p.Stats()
	fmt.Println("active", s.ActiveBlocks, s.ActiveBytes)
	fmt.Println("hits", s.Hits, "misses", s.Misses)
	fmt.Println(s.ManagedBytes == s.ActiveBytes+s.RoundingBytes+s.HeldBytes+s.UnusableBytes)
	a.Release()
	b.Release()
	fmt.Println("held", p.Stats().HeldBlocks)
	p.FreeHeld()
	fmt.Println("held", p.Stats().HeldBlocks)
	// Output:
	// active 2 150
	// hits 1 misses 2
	// true
	// held 2
	// held 0
}

// Close tells what was forgotten, and where it came from if asked.
func ExamplePool_Close() {
	p, _ := slab.OpenConfig(slab.Config{})
	b, _ := p.Get(100)
	fmt.Println(p.Close())
	_, err := p.Get(100)
	fmt.Println(err)
	fmt.Println(b.Release())
	// Output:
	// slab: pool device=heap closed with 1 buffers of 100 bytes out, not released
	// 	with on_forget=report the pool knows where they were got
	// slab: pool closed
	// <nil>
}

// A library that hands memory around as slices gives it back as one.
func ExamplePool_Put() {
	p, _ := slab.OpenConfig(slab.Config{})
	m, _ := p.GetBytes(1000)
	fmt.Println(len(m), p.Stats().ActiveBytes)
	fmt.Println(p.Put(m[10:])) // not where the buffer begins
	fmt.Println(p.Put(m[:10]))
	fmt.Println(p.Put(m)) // a second time
	fmt.Println(p.Stats().ActiveBytes, p.Stats().ForeignPuts)
	// Output:
	// 1000 1000
	// slab: the slice begins no buffer of this pool that is out
	// <nil>
	// slab: the slice begins no buffer of this pool that is out
	// 0 2
}

// A buffer off the heap doubles where it is.
func ExamplePooledBuffer_Grow() {
	p, _ := slab.OpenConfig(slab.Config{Device: "mmap"})
	defer p.Close()
	b, _ := p.Get(64 << 20)
	copy(b.Bytes(), "hello")
	at := &b.Bytes()[0]
	grown, err := b.Grow(128 << 20)
	fmt.Println(grown.Len(), grown.Cap(), string(grown.Bytes()[:5]), err)
	fmt.Println("copied:", &grown.Bytes()[0] != at)
	fmt.Println(b.Release())
	fmt.Println(grown.Release())
	// Output:
	// 134217728 134217728 hello <nil>
	// copied: false
	// slab: PooledBuffer released already
	// <nil>
}
