package slab_test

import (
	"fmt"

	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/slab"
)

// A buffer is released as soon as its work is enqueued: the pool remembers the
// stream, and gives the memory to others when that is done with it.
func ExamplePooledBuffer_UsedOn() {
	d := sim.New(64 << 20)
	d.Late(1)
	p, err := slab.Open(d, slab.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	s, _ := d.NewStream()

	b, _ := p.Get(1 << 20)
	_ = b.UsedOn(s)
	for range 10 {
		_ = s.Fill(b.Block(), 7)
	}
	_ = b.Release()
	fmt.Println("waiting:", p.Stats().WaitingBlocks)

	_ = s.Sync()
	p.Trim(1)
	fmt.Println("waiting:", p.Stats().WaitingBlocks)
	// Output:
	// waiting: 1
	// waiting: 0
}

// On the same stream the memory can be had at once: work there is done in order.
func ExamplePool_GetOn() {
	d := sim.New(1 << 20) // one buffer fills it
	d.Late(1)
	p, err := slab.Open(d, slab.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	s, _ := d.NewStream()
	for i := range 3 {
		b, err := p.GetOn(1<<20, s)
		if err != nil {
			fmt.Println(err)
			return
		}
		_ = s.Fill(b.Block(), byte(i))
		_ = b.Release()
	}
	fmt.Println(p.Stats().UpstreamAllocs, "allocation on the device")
	// Output: 1 allocation on the device
}
