package slab

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/handle"
)

// Cap returns the bytes that the buffer's block has. Grow to at most Cap bytes takes no
// memory, unless the buffer has parts or device memory has to be cleared. The Cap of a part
// is its Len. Cap is 0 after Release.
func (b PooledBuffer) Cap() int {
	if b.slot == nil || !b.slot.Pin(b.gen) {
		return 0
	}
	defer b.unpin()
	return b.slot.Len()
}

// Grow returns a buffer of n bytes that begins with the contents of b. Bytes beyond them are
// undefined, and cleared with Config.Zero. A smaller n cuts the view and keeps the block,
// unless 4 GiB or more of it would be spare. Afterwards b, its copies and its slices are
// stale, as after Release, whether the memory has moved or not. Of all calls of Grow and
// Release for one Get exactly one succeeds. Stats counts a Get and a Release.
//
// Grow copies nothing where the block has room. With bestfit and slab, above 256 bytes, it
// also copies nothing where the block can be extended by the memory after it. But host memory
// that at least doubles is copied where the pool has the room, and has had as much in use: to
// copy takes less time than new pages. To copy, Grow gets a buffer, copies and releases b. It
// always copies beyond Cap with Config.Check, and at all where device memory has to be cleared,
// while b is a part or has parts, and while a call of With runs on b: the old memory then stays
// until With returns.
//
// Streams that use b use the new buffer. A Grow that copies waits for them first. If Lookup
// returned b for a slice of GetBytes, the new slice alone keeps the new buffer active, too.
//
// The error wraps ErrSize for a negative n, and ErrReleased for a stale b, which does not
// count in Stats.DoubleReleases. It wraps ErrClosed after Close, if Grow takes memory (see
// Cap); a forgotten Pool still serves Grow. It is an *OutOfMemoryError where there is room
// neither after b nor elsewhere. Device memory is copied by its device: where the device is
// not known the error wraps device.ErrUnavailable. After an error b is as before, and Grow returns it:
// b, err = b.Grow(n) loses nothing.
func (b PooledBuffer) Grow(n int) (PooledBuffer, error) {
	c, err := b.grow(n)
	if err != nil {
		return b, err
	}
	return c, nil
}

// grow is Grow. Beside an error c means nothing.
func (b PooledBuffer) grow(n int) (c PooledBuffer, err error) {
	if n < 0 {
		return c, fmt.Errorf("slab: Grow to %d bytes: %w", n, ErrSize)
	}
	if b.slot == nil || !b.slot.Pin(b.gen) {
		return c, ErrReleased
	}
	g := growth{pool: poolOf(b.slot), from: b, to: n}
	defer g.unpin()
	closed := g.pool.refuses()
	if closed && n > b.slot.Len() {
		return c, ErrClosed
	}
	c, ok := g.inPlace()
	if !ok && closed {
		return c, ErrClosed
	}
	if !ok {
		c, err = g.byCopy()
	}
	if outOfMemory(err) { // held memory has gone back: it may have been in the way
		g.stay = true
		if d, ok := g.inPlace(); ok {
			return d, nil
		}
	}
	return c, err
}

// A growth is a call of Grow. It has pinned its buffer, until it ends the generation.
type growth struct {
	pool    *pool
	from    PooledBuffer
	to      int
	ended   bool   // the pin
	stay    bool   // it is not to be copied
	escaped bool   // there may be a slice of the memory
	bySlice bool   // GetBytes returned b: the program may keep only the slice
	mark    uint64 // of b in a recording
}

func (g *growth) unpin() {
	if !g.ended {
		g.ended = true
		g.from.unpin()
	}
}

// end makes the growth the only owner of the slot. It refuses if another call uses the
// buffer or has released it.
func (g *growth) end() bool {
	s := g.from.slot
	if g.ended = s.EndOwn(g.from.gen); g.ended {
		g.escaped, g.bySlice = s.MayHaveEscaped(), s.IsBySlice(g.from.gen)
		g.mark = g.pool.leaks.Growing(s)
		g.pool.leaks.Released(s)
		g.pool.profile.Released(s)
	}
	return g.ended
}

// inPlace reports false where the contents have to move.
func (g *growth) inPlace() (c PooledBuffer, ok bool) {
	p, b, s := g.pool, g.from, g.from.slot
	calls := p.accounting.Allocs()
	e := handle.Entry{Slot: s, Mem: b.ptr}
	switch have := s.Len(); {
	case s.IsPart():
		return c, false
	case p.config.Zero && b.ptr == nil && g.to > b.n:
		return c, false
	case g.to <= have:
		if uint64(have-g.to) > math.MaxUint32 || !g.end() { // a slot has 32 bits for spare bytes
			return c, false
		}
		p.changed() // what is active, which the error of a Get that failed before says
	case have == 0 || !g.extend(&e):
		return c, false
	}
	stands := p.countGrow(b.n, g.to, p.callsAfter(calls))
	p.notePeak(g.to)
	c = lend(e, g.to)
	if g.escaped {
		c.slot.Escape()
	}
	if g.bySlice {
		c.gen = c.slot.BySlice()
	}
	p.leaks.Grown(g.mark, c.slot, c.gen, c.n)
	if stands > 0 {
		p.profile.Sample(c.slot, c.n, stands)
	}
	if p.config.Zero && g.to > b.n {
		clearOn(p.upstream, unsafe.Slice((*byte)(c.ptr), g.to)[b.n:])
	}
	return c, true
}

// extend has the strategy make the block longer, and gives it a slot for the new length. It leaves
// collections to the next Get: the number of watched blocks is the same.
func (g *growth) extend(e *handle.Entry) bool {
	p, s := g.pool, e.Slot
	if _, cannot := p.blocks.(unnumbered); cannot {
		return false
	}
	class, ask := p.cache.Fit(g.to)
	shared := *g // on the Go heap, only for a block that may be extended
	defer func() { *g = shared }()
	// to copy is dear, or waits, or there is no room for it
	stay := g.stay || g.from.ptr == nil || len(p.pending.Uses(s)) > 0
	// also if it fails: there may be more memory after the block
	defer p.changed()
	if !p.blocks.Extend(s.Block(s.Len()), s.Extent(), ask, stay, shared.end) {
		return false
	}
	on := p.pending.EndUse(s)
	e.Slot = p.lengthen(s, ask, class)
	p.pending.UseAll(e.Slot, on)
	return true
}

// byCopy gets a buffer, copies to it, and releases the old buffer. If the copy fails, or panics,
// the new buffer goes back.
func (g *growth) byCopy() (PooledBuffer, error) {
	p, b := g.pool, g.from
	c, err := g.get()
	if err != nil {
		return c, err
	}
	done := false
	defer func() {
		if !done {
			c.discard()
		}
	}()
	on := p.pending.Uses(b.slot.Root())
	for _, s := range on {
		_ = s.Sync() // a stream that has failed has nothing under way
	}
	if !p.config.replayed() { // in a replay nobody reads the contents, and there may be no memory
		if err := copyContents(deviceOf(p.upstream), c, b, min(b.n, c.n)); err != nil {
			return PooledBuffer{}, err
		}
	}
	if b.slot.IsBySlice(b.gen) {
		c.gen = c.slot.BySlice()
	}
	if won, _ := b.slot.EndPinned(b.gen); !won {
		return PooledBuffer{}, ErrReleased
	}
	p.leaks.Moved(b.slot, c.slot, c.n, b.slot.IsPart() || b.slot.IsShared())
	if c.n > 0 {
		p.pending.UseAll(c.slot, on)
	}
	g.unpin() // the last unpin recycles the block
	done = true
	return c, nil
}

// roomyFrom is the size from which a block that moved gets a place where it can grow again. To copy
// less takes less time than the memory around such a place costs.
const roomyFrom = 1 << 20

// get gets the new buffer, at a place where it can grow again if it is large and there is one.
func (g *growth) get() (PooledBuffer, error) {
	p := g.pool
	calls := p.accounting.Allocs()
	if class, ask := p.cache.Fit(g.to); g.to > g.from.n && g.to >= roomyFrom {
		b, extent, ok := p.blocks.AllocRoomy(ask)
		p.changed() // also if it fails, as for extend
		if ok {
			p.gc.Relieve()
			if e, stands := p.attach(b, extent, class, g.to, p.callsAfter(calls)); e.Slot != nil {
				return p.hand(e, g.to, stands, growing)
			}
		}
	}
	if p.cache.Caches(g.to) {
		return p.getNow(g.to, growing)
	}
	return p.get(g.to, p.cache.Uncached(), growing)
}

// copyContents copies the first n bytes, of device memory by d.
func copyContents(d device.Device, dst, src PooledBuffer, n int) error {
	if src.ptr != nil && dst.ptr != nil || n == 0 {
		copy(unsafe.Slice((*byte)(dst.ptr), n), unsafe.Slice((*byte)(src.ptr), n))
		return nil
	}
	if d == nil {
		return fmt.Errorf("slab: Grow of memory that neither the CPU nor a known device can copy: %w",
			device.ErrUnavailable)
	}
	return d.Copy(dst.slot.Block(n), src.slot.Block(n))
}
