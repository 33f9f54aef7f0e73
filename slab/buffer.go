package slab

import (
	"math"
	"runtime"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/handle"
)

// A PooledBuffer is a handle to memory of a [Pool]. It is a value: copy it freely.
// All copies are handles of the same buffer, and the first Release counts. The zero
// PooledBuffer holds nothing and counts as released.
//
// A buffer that is never released comes back by itself where the collector can see
// that its memory is not in use (see [Pool]); releasing is faster. Its methods are
// safe for concurrent use. They do not guard the bytes: the caller must.
//
//	every day          Bytes, Len, Release
//	parts and growth   Slice, Share, Grow, Cap
//	off the heap       With, which keeps the memory while a function has the bytes
//	devices            Block, UsedOn
//	packages on pools  Ref, Hide
type PooledBuffer struct {
	slot *handle.Slot
	ptr  unsafe.Pointer
	gen  uint64
	n    int
}

// Len returns the length in bytes that was asked for, also after Release.
func (b PooledBuffer) Len() int { return b.n }

// Bytes returns the buffer's memory; its capacity is cut to Len. It is nil for device
// memory and after Release. Do not use the slice after Release: the memory then
// belongs to another buffer. Off the Go heap the slice does not keep the buffer
// from being forgotten: keep the handle, or use With.
func (b PooledBuffer) Bytes() []byte {
	if b.ptr == nil { // two ifs: of one condition the compiler stores the result, and then tests that
		return nil
	}
	if !b.slot.Owns(b.gen) {
		return nil
	}
	b.slot.Escape()
	return (*[mostBytes]byte)(b.ptr)[:b.n:b.n] // one comparison, of which unsafe.Slice makes two
}

// mostBytes is more than any memory has that the CPU can reach.
const mostBytes = min(1<<47, math.MaxInt)

// With calls f with the buffer's memory, nil for device memory. While f runs the
// memory is not recycled: a Release meanwhile takes effect when f returns. f must not
// keep the slice, nor be nil. After Release With returns ErrReleased and does not call
// f. A panic of f passes through.
func (b PooledBuffer) With(f func([]byte)) error {
	if b.slot == nil || !b.slot.Pin(b.gen) {
		return ErrReleased
	}
	defer b.unpin()
	if f == nil {
		panic("slab: With has no function to call")
	}
	var m []byte
	if b.ptr != nil {
		m = unsafe.Slice((*byte)(b.ptr), b.n)
	}
	f(m)
	return nil
}

func (b PooledBuffer) unpin() {
	if b.slot.Unpin() {
		poolOf(b.slot).recycleMarked(b.entry(), b.n)
	}
	runtime.KeepAlive(b.ptr)
}

// Block returns the buffer as a block of its device, for copies. It is the zero Block
// for an empty buffer and after Release. On the Go heap the block has a region of its own
// that keeps the memory alive. Elsewhere the block must not outlive the handle. Do not
// free the block.
func (b PooledBuffer) Block() device.Block {
	s := b.slot
	if s == nil || b.n == 0 || !s.Pin(b.gen) {
		return device.Block{}
	}
	defer b.unpin() // until then a Release does not change the slot
	if s.Collected() {
		return device.Host(unsafe.Slice((*byte)(b.ptr), b.n))
	}
	if b.ptr != nil {
		s.Escape()
	}
	return s.Block(b.n)
}

// Release gives the buffer back. Of all Releases for one Get, on any copy of the handle
// and from any goroutine, exactly one returns nil. The others return ErrReleased, count
// in Stats.DoubleReleases and touch nothing. With Config.Strict they panic.
func (b PooledBuffer) Release() error {
	s := b.slot
	if s == nil {
		return ErrReleased
	}
	if !s.End(b.gen) {
		return b.releasePinned()
	}
	p := poolOf(s)
	if s.Simple() {
		handle.GivenUp(b.entry(), b.n)
		on := p.cache.Pin()
		if p.cache.At(on.ID(), s.Class()).Push(b.entry(), b.n) {
			p.cache.Unpin(on)
			return nil
		}
		p.cache.Unpin(on)
	}
	p.recycle(b.entry(), b.n)
	return nil
}

// discard is Release for code of this package that is the only owner of b, or has the zero value: there
// is no error.
func (b PooledBuffer) discard() { _ = b.Release() }

// entry returns the block of b.
func (b PooledBuffer) entry() handle.Entry { return handle.Entry{Slot: b.slot, Mem: b.ptr} }

// releasePinned is Release of a buffer that was released before, or that a call of
// With still uses: then that call recycles it.
func (b PooledBuffer) releasePinned() error {
	p := poolOf(b.slot)
	won, idle := b.slot.EndPinned(b.gen)
	if !won {
		p.leaks.ReleasedTwice(b.slot, b.gen, b.n)
		return ErrReleased
	}
	if idle {
		p.recycleMarked(b.entry(), b.n)
	}
	runtime.KeepAlive(b.ptr)
	return nil
}
