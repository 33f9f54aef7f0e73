package slab

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// The way of a Get that the processor's magazine does not serve.

// get is Get without a block at hand: from the depot, else from the strategy,
// for a whole class if the block is to be cached. Whether it may stall until
// a stream is done is for the caller to say.
func (k *core) get(size, class int, stall bool) (PooledBuffer, error) {
	if k.closed.Load() {
		return PooledBuffer{}, ErrClosed
	}
	if size < 0 {
		return PooledBuffer{}, fmt.Errorf("slab: Get of %d bytes: %w", size, ErrSize)
	}
	ask := size
	if class < k.cache.uncached() {
		if e, ok := k.fromCaches(class, size); ok {
			return k.hand(e, size)
		}
		ask = k.cache.grid.Size(class)
	}
	if size > 0 {
		k.sweep()
	}
	for {
		blk, err := k.alloc(ask, stall)
		if err != nil {
			return PooledBuffer{}, k.failed(size, ask, err)
		}
		k.valve.check(k)
		s, ptr := k.admit(blk, class)
		if s == nil {
			continue
		}
		k.keepBound()
		k.cache.countGet(size)
		return k.hand(entry{s, ptr, s.word.Load()}, size)
	}
}

// getTracked is Get of a block that may have a token or is not cached.
func (k *core) getTracked(size int) (PooledBuffer, error) {
	if uint(size-1) >= uint(k.cache.largest) {
		return k.get(size, k.cache.uncached(), true)
	}
	class := k.cache.grid.index(size)
	e, ok := k.cache.popTracked(class, size)
	if !ok {
		e, ok = k.cache.again(class, k.cache.above(size), size)
	}
	if !ok {
		return k.get(size, class, true)
	}
	return k.hand(e, size)
}

// fromCaches looks where Get has not: in the depot, for a large block two doublings
// of classes up, as far in the processor's own magazines, and before it goes
// upstream in those of other processors.
func (k *core) fromCaches(class, size int) (entry, bool) {
	above := k.cache.above(size)
	for c := class; c <= class+2*above && c < k.cache.uncached(); c++ {
		if e, ok := k.refill(c, size); ok {
			return e, true
		}
	}
	if above == 0 {
		return entry{}, false
	}
	if e, ok := k.cache.again(class, 2*above, size); ok || size < robFrom {
		return e, ok
	}
	return k.rob(class, above, size)
}

// hand makes an entry a handle, whose slot a magazine has marked or nobody. Get
// does the same by itself: this is too large to be inlined.
func (k *core) hand(e entry, size int) (PooledBuffer, error) {
	e.s.asked.Store(int64(size))
	b := PooledBuffer{own: e.s, ptr: e.p, gen: e.gen, n: size}
	if k.careful {
		return k.handCarefully(b)
	}
	return b, nil
}

// handCarefully does what only some pools have to do for a Get.
func (k *core) handCarefully(b PooledBuffer) (PooledBuffer, error) {
	if k.sites != nil {
		k.got(b)
	}
	if k.config.Zero {
		return k.zero(b)
	}
	return b, nil
}

// alloc is the strategy's Alloc with all that a pool can do when there is no
// room: empty the caches, wait for streams, give back what is held, ask pools
// that share the budget to do so. Without stall only the first of it.
func (k *core) alloc(size int, stall bool) (device.Block, error) {
	b, err := k.strategy.Alloc(size)
	if outOfMemory(err) && k.emptyCaches() {
		b, err = k.strategy.Alloc(size)
	}
	for stall && outOfMemory(err) && k.settleOne() {
		b, err = k.strategy.Alloc(size)
	}
	if !stall || !outOfMemory(err) {
		return b, err
	}
	k.freeHeld()
	for _, s := range sharersOf(k.upstream) {
		s.Reclaim(k)
	}
	return k.strategy.Alloc(size)
}

// zero clears a fresh buffer, or releases it and says why it cannot.
func (k *core) zero(b PooledBuffer) (PooledBuffer, error) {
	if b.ptr != nil {
		clear(unsafe.Slice((*byte)(b.ptr), b.n))
		return b, nil
	}
	if err := k.fillDevice(b); err != nil {
		return PooledBuffer{}, errors.Join(err, b.Release())
	}
	return b, nil
}

func (k *core) fillDevice(b PooledBuffer) error {
	if k.device == nil {
		return fmt.Errorf("slab: GetZeroed of memory that neither the CPU nor a known device can clear: %w", device.ErrUnavailable)
	}
	s, err := k.device.NewStream()
	if err != nil {
		return err
	}
	return errors.Join(s.Fill(b.Block(), 0), s.Sync(), s.Close())
}
