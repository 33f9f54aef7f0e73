package percpu

import (
	"math"
	"runtime"

	"github.com/bufslab/bufslab/slab/internal/profile"
)

// Which hits a profile samples. A class cache counts its Gets in its state, up to a bit that
// Enter tests together with the number of blocks: so to count costs a hit nothing. When that
// bit is set the class cache is due: Enter refuses, and Retry serves the Get, samples it, and
// arms the class cache again.
//
// ClassCache.state, from its lowest bit:
//
//	 8 bits  blocks in loaded
//	23 bits  Gets, from a number that was drawn
//	 1 bit   due
//	24 bits  what the Gets were counted from; 0 before the class cache was armed
//	 8 bits  the scale of what was drawn
const (
	loadedBits = 8
	loadedMask = 1<<loadedBits - 1
	oneGet     = 1 << loadedBits
	due        = -1 << 31 // of the lower half, as a signed number
	dueGets    = 1 << 23  // the Gets that set due
	fromAt     = 32
	fromMask   = 2*dueGets - 1
	scaleAt    = 56
)

// n returns the blocks in the loaded magazine.
func (c *ClassCache) n() int32 { return int32(c.state & loadedMask) }

// setN is for code that moves magazines. It counts no Get.
func (c *ClassCache) setN(n int32) { c.state = c.state&^loadedMask | uint64(n) }

// wasDue reports whether c was due before the last Get: that alone may have made it due, for
// the next.
func (c *ClassCache) wasDue() bool { return uint32(c.state) >= (dueGets+1)*oneGet }

// isArmed reports whether c was armed.
func (c *ClassCache) isArmed() bool { return c.state>>fromAt != 0 }

// enter is Enter though c may be due.
func (c *ClassCache) enter() bool {
	c.busy = 1
	return c.limit.Load() >= 0 && c.n() > 0
}

// gets counts the Gets since c was armed.
func (c *ClassCache) gets() int64 {
	return int64(uint32(c.state)>>loadedBits) - int64(c.state>>fromAt&fromMask)
}

// touched changes with each Get and Release that c serves.
func (c *ClassCache) touched() uint32 {
	return 2*uint32(c.state>>loadedBits) + uint32(c.n()+c.nprevious) - uint32(c.moved)
}

// arm draws how many Gets a class cache of p serves until it is due. The caller is pinned.
func (c *Cache) arm(p *cpu, class int) {
	k := &p.caches[class]
	bytes, scale := c.options.Pace.Draw()
	n := bytes / c.BlockBytes(class)
	if n >= dueGets { // then the next distance begins there: none remembers what was before
		n, scale = dueGets-1, profile.Never
	}
	from := uint64(dueGets - n)
	p.arms.Add(1)
	p.gets.Add(k.gets())
	k.state = uint64(scale)<<scaleAt | from<<fromAt | from<<loadedBits | k.state&loadedMask
	p.arms.Add(1)
}

// rearm arms a class cache that was due and has just served a Get, and leaves it and p. It
// returns what the Get stands for in a profile, 0 if that is nothing. The caller is pinned.
func (c *Cache) rearm(p *cpu, class int) (stands float64) {
	k := &p.caches[class]
	if scale := profile.Scale(k.state >> scaleAt); k.isArmed() && scale != profile.Never {
		stands = c.options.Pace.Stands(c.BlockBytes(class), scale)
	}
	c.arm(p, class)
	k.Leave()
	p.leave()
	return stands
}

// missed says which of the Gets that no class cache serves are sampled: those with which
// the sum of their bytes passes due.
type missed struct {
	due   int64
	scale profile.Scale // that due was drawn with
}

// sampleMissed returns what a Get of size bytes stands for that brought the sum to due or
// beyond, and draws the next due. The caller holds the lock.
func (c *Cache) sampleMissed(size int) (stands float64) {
	if size == 0 {
		return 0
	}
	stands = c.options.Pace.Stands(int64(size), c.counts.missed.scale)
	c.drawMissed()
	return stands
}

// drawMissed draws where the sum of the bytes passes due next. The caller holds the lock.
func (c *Cache) drawMissed() {
	n := &c.counts
	bytes, scale := c.options.Pace.Draw()
	n.missed = missed{n.got + min(bytes, math.MaxInt64-n.got), scale}
}

// served adds up what the class caches of p have served. It looks again if one was armed
// meanwhile. The caller has locked p.mu, which only the race detector's build needs.
func (p *cpu) served() (gets, releases int64) {
	for {
		arms := p.arms.Load()
		gets, releases = p.gets.Load(), 0
		for i := range p.caches {
			k := &p.caches[i]
			gets += k.gets()
			releases += int64(k.n()) + int64(k.nprevious) - k.moved // blocks that magazines have not brought came by Release
		}
		if arms%2 == 0 && p.arms.Load() == arms {
			return gets, gets + releases
		}
		runtime.Gosched()
	}
}
