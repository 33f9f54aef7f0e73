package slab

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bufslab/bufslab/device"
)

// How memory that streams work on is reused.
//
// Whoever enqueues work on a buffer says so by UsedOn. When the buffer is
// released, or found forgotten, an event is recorded on each such stream, and
// the block waits: in a lane for the stream, in neither a cache nor the
// strategy. Once its events are done it goes back to the strategy; until then
// it can be had by GetOn. Blocks that no stream has used know nothing of all
// this: their slot says plain, and Release looks no further.
//
//	stream.go   what the user says: UsedOn and GetOn
//	lane.go     where blocks wait
//	settle.go   how they come back

// UsedOn says that work on s uses the buffer. It may be said before the work is
// enqueued or after, at any time before Release, any number of times and
// from any goroutine; whoever means to forget the buffer keeps the handle until
// all work is enqueued. The first Release records an event on s, and
// until that is done the memory is not for others: [Pool.Get] hands it out
// afterwards, [Pool.GetOn] before on s itself. If s cannot record, Release
// waits for s: a stream that has failed or is closed has nothing under way then.
//
// It returns ErrReleased after Release, and does nothing then; it is no
// Release that counts as refused. A nil stream gives an error that wraps
// device.ErrUnavailable. An empty buffer is used by nobody.
func (b PooledBuffer) UsedOn(s device.Stream) error {
	if s == nil {
		return fmt.Errorf("slab: UsedOn of no stream: %w", device.ErrUnavailable)
	}
	own := b.own
	if own == nil || !own.pin(b.gen) {
		return ErrReleased
	}
	defer b.unpin() // until then Release leaves it to us
	if b.n > 0 {
		own.rack().pool.streams.use(own, s)
	}
	return nil
}

// GetOn is Get for a buffer that is for work on s alone, and counts as used on
// s from the start: the bytes may have work of s before them, so whoever reaches
// them otherwise, the CPU included, waits for s first. In this order
// it takes
//
//   - memory that waits for work on s and nothing else, at most twice as large;
//   - free memory;
//   - memory that waits for another stream, and lets s wait for that: a steal;
//   - memory from upstream;
//
// and where there is no room it steals what is larger, too, before it waits as
// Get does. If the stream that it steals from fails, s fails with it. Where
// Config says zero, check or record, blocks have to go by the strategy: then
// GetOn waits for events as Get does.
func (p *Pool) GetOn(size int, s device.Stream) (PooledBuffer, error) {
	if s == nil {
		return PooledBuffer{}, fmt.Errorf("slab: GetOn of %d bytes on no stream: %w", size, device.ErrUnavailable)
	}
	b, err := p.c.getOn(size, s)
	if err == nil && b.n > 0 {
		p.c.streams.use(b.own, s)
	}
	return b, err
}

func (k *core) getOn(size int, s device.Stream) (PooledBuffer, error) {
	class, ask := k.askFor(size)
	if size <= 0 || !k.reuses() || k.streams.count.Load() == 0 {
		return k.get(size, class, true)
	}
	if w := k.streams.own(s, ask); w != nil {
		return k.handWaiting(w, size)
	}
	k.sweep()
	if e, ok := k.cache.again(class, k.cache.above(size), size); ok {
		return k.hand(e, size)
	}
	if !k.holds(ask) {
		if w := k.stealWaiting(s, ask, ask); w != nil {
			return k.handWaiting(w, size)
		}
	}
	b, err := k.get(size, class, false)
	if outOfMemory(err) {
		if w := k.stealWaiting(s, ask, maxAsk); w != nil {
			return k.handWaiting(w, size)
		}
		return k.get(size, class, true)
	}
	return b, err
}

// askFor returns the class for size bytes and what the strategy is asked for.
func (k *core) askFor(size int) (class, ask int) {
	if uint(size-1) >= uint(k.cache.largest) {
		return k.cache.uncached(), size
	}
	class = k.cache.grid.Index(size)
	return class, k.cache.grid.Size(class)
}

// reuses reports whether a block may have a new owner without going by the strategy.
func (k *core) reuses() bool {
	return !k.config.Zero && !k.config.Check && k.config.Record == ""
}

// holds reports whether the strategy has n free bytes, as far as it tells.
func (k *core) holds(n int) bool {
	u, ok := k.strategy.(User)
	return ok && u.Usage().HeldBytes >= int64(n)
}

// stealWaiting takes a block of size bytes, with so many to spare, that waits for
// other streams, and has s wait instead.
func (k *core) stealWaiting(s device.Stream, size, spare int) *waiter {
	w := k.streams.oldest(func(w *waiter) bool { return w.fits(size, spare) })
	if w == nil {
		return nil
	}
	for _, u := range w.uses {
		if u.stream != s && s.Wait(u.event) != nil {
			k.wait(w) // s has failed, and gets no more of this
			return nil
		}
	}
	return w
}

func (k *core) handWaiting(w *waiter, size int) (PooledBuffer, error) {
	k.cache.countGet(size)
	w.entry.s.unmark()
	return k.hand(w.entry, size)
}

// streams is what a pool knows of the streams that use its blocks.
type streams struct {
	count atomic.Int64 // of waiters in lanes

	mu      sync.Mutex                 // leaf, but for what an event is asked
	used    map[slotID][]device.Stream // of buffers that are out
	lanes   []*lane
	numbers uint64
	waiting tally
	stopped bool // nothing waits any more
}

// use notes that on has work to do on the block of s. The caller has pinned s,
// or has not handed it out yet: so plain has no reader.
func (k *streams) use(s *slot, on device.Stream) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.used == nil {
		k.used = map[slotID][]device.Stream{}
	}
	if at := k.used[s.id()]; !slices.Contains(at, on) {
		k.used[s.id()] = append(at, on)
	}
	s.used, s.plain = true, false
}

// take returns the streams that have used the block of s, and forgets them.
func (k *streams) take(s *slot) []device.Stream {
	k.mu.Lock()
	defer k.mu.Unlock()
	on := k.used[s.id()]
	delete(k.used, s.id())
	s.used = false
	return on
}

// tally returns what waits and will be free.
func (k *streams) tally() tally {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.waiting
}
