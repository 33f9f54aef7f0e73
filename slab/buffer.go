package slab

import (
	"runtime"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// A PooledBuffer is a handle to memory of a [Pool]. It is a value: copy it
// freely, all copies stand for the same buffer, and the first Release counts.
// The zero PooledBuffer holds nothing and counts as released.
//
// A buffer that is never released comes back by itself where the collector
// can see that nobody uses its memory (see [Pool]); releasing is faster.
// Its methods are safe for concurrent use; its bytes are yours to guard.
type PooledBuffer struct {
	own *slot
	ptr unsafe.Pointer
	gen uint64
	n   int
}

// Len returns the length in bytes that was asked for, also after Release.
func (b PooledBuffer) Len() int { return b.n }

// Bytes returns the buffer's memory, its capacity cut to Len. It is nil for
// device memory and after Release. The slice is not to be used after Release;
// the memory then belongs to somebody else. Off the Go heap the slice does not
// keep the buffer from being forgotten: keep the handle, or use With.
func (b PooledBuffer) Bytes() []byte {
	s := b.own
	if b.ptr == nil || s.word.Load()&^pinMask != b.gen {
		return nil
	}
	if s.token && !s.escaped.Load() {
		s.escaped.Store(true)
	}
	return unsafe.Slice((*byte)(b.ptr), b.n)
}

// With calls f with the buffer's memory, nil for device memory. While f runs
// the memory is not recycled, even if the buffer is released meanwhile: that
// takes effect when f returns. f must not keep the slice. It returns
// ErrReleased, without calling f, after Release. A panic of f passes through.
func (b PooledBuffer) With(f func([]byte)) error {
	s := b.own
	if s == nil || !s.pin(b.gen) {
		return ErrReleased
	}
	defer b.unpin()
	var m []byte
	if b.ptr != nil {
		m = unsafe.Slice((*byte)(b.ptr), b.n)
	}
	f(m)
	return nil
}

func (b PooledBuffer) unpin() {
	if b.own.unpin(b.gen) {
		b.own.rack().pool.recycle(b)
	}
	runtime.KeepAlive(b.ptr)
}

// Block returns the buffer as a block of its device, for copies. It is the
// zero Block for an empty buffer and after Release. On the Go heap it is a
// region of its own that keeps the memory alive; elsewhere the block must not
// outlive the handle. Do not free it.
func (b PooledBuffer) Block() device.Block {
	s := b.own
	if s == nil || b.n == 0 || s.word.Load()&^pinMask != b.gen {
		return device.Block{}
	}
	h := s.home()
	if h.collected != nil {
		return device.Host(unsafe.Slice((*byte)(b.ptr), b.n))
	}
	if b.ptr != nil && s.token {
		s.escaped.Store(true)
	}
	return device.Block{Region: h.region, Off: s.off, Len: b.n}
}

// Release gives the buffer back. Of all calls for one Get, on any copy of the
// handle and from any goroutine, exactly one returns nil; the others return ErrReleased,
// are counted in Stats.DoubleReleases and touch nothing. With
// Config.Strict they panic.
func (b PooledBuffer) Release() error {
	s := b.own
	if s == nil {
		return ErrReleased
	}
	bias := s.marked()
	if bias == 0 && !s.word.CompareAndSwap(b.gen, b.gen+nextGen) {
		return b.releaseSlowly()
	}
	k := s.rack().pool
	won, kept := bias == 0, false
	id := k.cache.enter()
	if m := k.cache.magazine(id, int(s.class)); m != nil {
		if won = won || m.ends(s, bias, b.gen); won && s.plain {
			s.conceal()
			kept = m.push(entry{s, b.ptr, b.gen + nextGen}, b.n)
		}
	}
	k.cache.leave(id)
	if kept {
		return nil
	}
	if !won {
		return b.releaseSlowly()
	}
	k.recycle(b)
	runtime.KeepAlive(b.ptr)
	return nil
}

// releaseSlowly is Release of a buffer that is pinned, was released before, or
// is not on the processor that could have released it alone.
func (b PooledBuffer) releaseSlowly() error {
	k := b.own.rack().pool
	won, idle := b.own.release(b.gen)
	if !won {
		return k.releasedTwice(b)
	}
	if idle {
		k.recycle(b)
	}
	runtime.KeepAlive(b.ptr)
	return nil
}
