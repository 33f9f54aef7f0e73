package slab

import (
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/pin"
)

// What has a block and releases it goes on without it where Release panics: as Check does for a
// dead canary, and an upstream may.

// writeBeyond writes to the canary after a buffer.
func writeBeyond(b PooledBuffer) { *(*byte)(unsafe.Add(b.ptr, b.n)) = 1 }

// beginsIn reports whether m begins in the memory of b.
func beginsIn(m []byte, b PooledBuffer) bool {
	return uintptr(unsafe.Pointer(unsafe.SliceData(m)))-uintptr(b.ptr) < uintptr(b.n)
}

func checkedPool(t *testing.T) *Pool {
	return openPool(t, "heap", Config{Strategy: "exact", Check: true})
}

func TestABufferLosesWhatPanicked(t *testing.T) {
	for what, f := range map[string]func(b *Buffer){
		"Release": (*Buffer).Release,
		"Grow":    func(b *Buffer) { b.Truncate(0); _ = b.Grow(3000) },
	} {
		p := checkedPool(t)
		b := NewBuffer(p)
		b.Write(make([]byte, 500))
		of := b.block
		writeBeyond(of)
		if !doesPanic(func() { f(b) }) {
			t.Fatalf("%s: no panic", what)
		}
		x := mustGet(t, p, of.n) // the same memory
		b.WriteByte(7)
		if beginsIn(b.Bytes(), x) {
			t.Errorf("%s: it writes to another owner's buffer", what)
		}
		mustRelease(t, x)
	}
}

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
