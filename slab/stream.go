package slab

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/pending"
)

// How memory that streams work on is reused.
//
// A program that enqueues work on a buffer says so by UsedOn. When the buffer is
// released, or found forgotten, an event is recorded on each such stream, and the
// block waits in a queue of the stream. Once its events are done the block goes back to
// the strategy; until then GetOn can have it. For other blocks Release does none of
// this: their slot is simple, and Release looks no further.
//
//	stream.go                 calls of the user: UsedOn and GetOn
//	slab/internal/pending     where blocks wait
//	reclaim.go                how they come back
//	underway.go               finds Releases that are too early, with Config.Check

// UsedOn says that work on s uses the buffer. Call it before the work is enqueued or
// after, at any time before Release, any number of times and from any goroutine. A
// program that means to forget the buffer keeps the handle until all work is enqueued.
// The first Release records an event on s. [Pool.Get] hands the memory out only after
// that event is done; [Pool.GetOn] on s itself may hand it out before. If s cannot
// record, Release waits for s: a stream that has failed or is closed has nothing under
// way then.
//
// After Release UsedOn returns ErrReleased, which does not count in Stats.DoubleReleases.
// For a nil stream, and for a stream that cannot work on the memory, as one of another
// device (see [device.Accepter]), the error wraps device.ErrUnavailable. For an empty buffer
// UsedOn does nothing.
func (b PooledBuffer) UsedOn(s device.Stream) error {
	if s == nil {
		return fmt.Errorf("slab: UsedOn of no stream: %w", device.ErrUnavailable)
	}
	if b.slot == nil || !b.slot.Pin(b.gen) {
		return ErrReleased
	}
	defer b.unpin() // until then Release leaves it to us
	if b.n == 0 {
		return nil
	}
	if err := device.Accepts(s, b.slot.Root().Block(1)); err != nil && !errors.Is(err, device.ErrClosed) {
		return err
	}
	poolOf(b.slot).pending.Use(b.slot.Root(), s)
	return nil
}

// GetOn is Get for a buffer that only work on s will use. The buffer counts as used on s
// from the start: earlier work on s may still use the memory. Any other access to the
// buffer, also by the CPU, must wait for s first. GetOn takes, in this order,
//
//   - memory that waits for work on s alone, at most twice as large;
//   - free memory;
//   - memory that waits for another stream: GetOn makes s wait for that stream;
//   - memory from upstream.
//
// Where there is no room GetOn takes larger memory that waits for another stream, too,
// before it waits as Get does. If that other stream fails, s fails, too. With
// Config.Zero or Check blocks have to pass through the strategy: then GetOn waits for
// events as Get does.
//
// For a nil stream, and for one that cannot work on the memory of the pool, the error wraps
// device.ErrUnavailable; for a closed one it wraps device.ErrClosed.
func (p *Pool) GetOn(size int, s device.Stream) (PooledBuffer, error) {
	if s == nil {
		return PooledBuffer{}, fmt.Errorf("slab: GetOn of %d bytes on no stream: %w", size, device.ErrUnavailable)
	}
	if !p.isOpened() {
		return PooledBuffer{}, errNotOpened
	}
	defer runtime.KeepAlive(p)
	if err := device.Accepts(s, device.Block{}); err != nil {
		return PooledBuffer{}, err
	}
	q := p.pool
	b, err := q.getOn(size, s)
	if err != nil || b.n == 0 {
		return b, err
	}
	if err := device.Accepts(s, b.slot.Block(1)); err != nil {
		return PooledBuffer{}, errors.Join(err, b.Release())
	}
	poolOf(b.slot).pending.Use(b.slot, s) // plain memory has a pool of its own
	return b, nil
}

func (p *pool) getOn(size int, s device.Stream) (PooledBuffer, error) {
	class, ask := p.cache.Fit(size)
	if size <= 0 || !p.config.reuses() || p.pending.Len() == 0 {
		return p.get(size, class, fully)
	}
	if b := p.pending.TakeFor(s, ask); b != nil {
		return p.handPending(b, size)
	}
	p.sweep()
	if e, stands := p.cache.RetryPinned(class, size); e.Slot != nil {
		return p.hand(e, size, stands, fully)
	}
	if p.Free() < int64(ask) {
		if b := p.steal(s, ask, ask); b != nil {
			return p.handPending(b, size)
		}
	}
	b, err := p.get(size, class, quickly)
	if outOfMemory(err) {
		if b := p.steal(s, ask, maxAsk); b != nil {
			return p.handPending(b, size)
		}
		return p.get(size, class, fully)
	}
	return b, err
}

// steal takes a block of at least size and at most size+spare bytes that waits for other
// streams, and has s wait for them instead.
func (p *pool) steal(s device.Stream, size, spare int) *pending.Block {
	b := p.pending.TakeOldest(func(b *pending.Block) bool { return b.Fits(size, spare) })
	if b == nil {
		return nil
	}
	waits := false
	defer func() {
		if !waits { // s has failed, or panics, and gets no more of these blocks
			p.awaitBlock(b)
		}
	}()
	if b.WaitOn(s) != nil {
		return nil
	}
	waits = true
	return b
}

func (p *pool) handPending(b *pending.Block, size int) (PooledBuffer, error) {
	return p.hand(b.Entry, size, p.countHit(size), fully)
}
