package slab

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/handle"
)

// A Get that the processor's caches do not serve goes down from here: the depot, the
// strategy, and what can be done when there is no room.

// get is Get without a block at hand. For a block that is to be cached it asks for
// one of the whole class. stall says whether it may do all that alloc can when there is
// no room, or only what is quick.
func (p *pool) get(size, class int, stall bool) (PooledBuffer, error) {
	if p.closed.Load() {
		return PooledBuffer{}, ErrClosed
	}
	if size < 0 {
		return PooledBuffer{}, fmt.Errorf("slab: Get of %d bytes: %w", size, ErrSize)
	}
	ask := size
	if class < p.cache.Uncached() {
		if e := p.cache.Refill(class, size); e.Slot != nil {
			p.held.note()
			return p.hand(e, size)
		}
		_, ask = p.cache.Fit(size)
	}
	if size > 0 {
		p.sweep()
	}
	e, err := p.fresh(ask, class, stall)
	if ask > size && outOfMemory(err) { // there may be room for what was asked
		e, err = p.fresh(size, p.cache.Uncached(), stall)
	}
	if err != nil {
		if s := p.stats(); outOfMemory(err) {
			err = &OutOfMemoryError{size, ask, s.HeldBytes, s.ActiveBytes, err}
		}
		return PooledBuffer{}, err
	}
	p.keepWithinHeld()
	p.cache.CountGet(size)
	return p.hand(e, size)
}

// fresh returns a block of the strategy with a slot.
func (p *pool) fresh(size, class int, stall bool) (handle.Entry, error) {
	simple := class < p.cache.Uncached() && p.leaks.sites == nil
	for {
		b, extent, err := p.alloc(size, stall)
		if err != nil {
			return handle.Entry{}, err
		}
		p.gc.relieve()
		if e, ok := p.table.Attach(b, extent, class, simple); ok {
			return e, nil
		}
	}
}

// hand makes a block a handle.
func (p *pool) hand(e handle.Entry, size int) (PooledBuffer, error) {
	b := lend(e, size)
	if p.config.needsFinish {
		return p.finish(b)
	}
	return b, nil
}

// finish does what only some pools have to do for a Get.
func (p *pool) finish(b PooledBuffer) (PooledBuffer, error) {
	p.leaks.recordGet(b)
	if p.config.Zero {
		return zero(b, p.upstream)
	}
	return b, nil
}

// alloc is the strategy's Alloc with all that a pool can do when there is no room:
// empty the caches, wait for streams, give back what is held here and elsewhere, and look
// for what was forgotten. Without stall it does only the first.
func (p *pool) alloc(size int, stall bool) (b device.Block, extent int32, err error) {
	if b, extent, err = p.blocks.AllocExtent(size); !outOfMemory(err) {
		return b, extent, err
	}
	if p.emptyCaches() {
		b, extent, err = p.blocks.AllocExtent(size)
	}
	for stall && outOfMemory(err) && p.freeOldest() {
		b, extent, err = p.blocks.AllocExtent(size)
	}
	for stall && outOfMemory(err) {
		b, extent, err = p.reclaimAndAlloc(size)
		if u := p.cache.Usage(); !outOfMemory(err) || !p.gc.search(u.Gets) {
			break
		}
	}
	return b, extent, err
}

// reclaimAndAlloc gives back what is held; if that is not enough it asks those who keep
// buffers of the pool to release them, and those who share the budget to give back.
func (p *pool) reclaimAndAlloc(size int) (b device.Block, extent int32, err error) {
	p.freeHeld()
	if b, extent, err = p.blocks.AllocExtent(size); !outOfMemory(err) {
		return b, extent, err
	}
	p.FreeHeld()
	for _, s := range sharersOf(p.upstream) {
		s.Reclaim(p)
	}
	return p.blocks.AllocExtent(size)
}

// zero clears a fresh buffer of an upstream's memory. If it cannot, it releases the
// buffer and says why.
func zero(b PooledBuffer, upstream Allocator) (PooledBuffer, error) {
	if b.ptr != nil {
		clear(unsafe.Slice((*byte)(b.ptr), b.n))
		return b, nil
	}
	if err := fill(b, deviceOf(upstream)); err != nil {
		return PooledBuffer{}, errors.Join(err, b.Release())
	}
	return b, nil
}

func fill(b PooledBuffer, d device.Device) error {
	if d == nil {
		return fmt.Errorf("slab: GetZeroed of memory that neither the CPU nor a known device can clear: %w", device.ErrUnavailable)
	}
	s, err := d.NewStream()
	if err != nil {
		return err
	}
	return errors.Join(s.Fill(b.Block(), 0), s.Sync(), s.Close())
}
