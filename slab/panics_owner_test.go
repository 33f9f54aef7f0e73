package slab

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/pin"
)

// A Get that keeps within max_held may go upstream after it has its block.
func TestAGetThatPanicsForMaxHeldLosesNoBlock(t *testing.T) {
	d := &unwilling{Device: openDevice(t, "mmap")}
	p := mustOpen(t, d, Config{Strategy: "sizeclass", MaxHeld: 64 << 10 * int64(pin.Numbers()+1)})
	var out []PooledBuffer
	mustRelease(t, mustGet(t, p, 1000)) // it is cached, and keeps its slab
	d.refuses = true
	if !doesPanic(func() {
		for n := 32 << 10; n > 16<<10; n -= 4 << 10 {
			out = append(out, mustGet(t, p, n))
		}
	}) {
		t.Fatal("no panic")
	}
	d.refuses = false
	releaseAll(t, out)
	checkNoneOut(t, p)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	checkNothing(t, p)
}

// An unwilling device panics instead of taking memory back.
type unwilling struct {
	device.Device
	refuses bool
}

func (s *unwilling) Free(b device.Block) {
	if s.refuses {
		panic(told)
	}
	s.Device.Free(b)
}
