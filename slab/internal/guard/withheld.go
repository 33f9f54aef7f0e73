package guard

import (
	"slices"
	"time"

	"github.com/bufslab/bufslab/device"
)

// A block that was released is withheld: until the collector has found that no view of it
// is left, or, off the Go heap, until there are too many. Then it is verified, and goes
// upstream.

// Free withholds a block, whose buffer was released.
func (g *Guard) Free(b device.Block) {
	k := g.take(b)
	k.released = Callers()
	k.seal(g.up.OwnsRegions())
	g.withhold(k)
	for {
		old := g.tooMany()
		if old == nil {
			return
		}
		g.giveBack(old)
	}
}

func (g *Guard) withhold(k *block) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count++
	k.since, k.at = g.collections.Load(), time.Now()
	g.insert(k)
}

// insert puts k last of what is withheld. The caller holds mu.
func (g *Guard) insert(k *block) {
	g.withheld = append(g.withheld, k)
	g.usage.Withheld += k.footprint
	if k.isWatched() {
		g.collected[k.Region] = k
	}
}

// tooMany removes the oldest block from what is withheld, and returns it, if the bounds want
// that.
func (g *Guard) tooMany() *block {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.stopped && len(g.withheld) <= mostBlocks && g.usage.Withheld <= mostBytes {
		return nil
	}
	return g.removeOldest()
}

// removeOldest removes the oldest withheld block, nil if there is none. One whose view the
// collector has just found gone is the last choice: its bytes cannot be read until its region
// has them back, and it will go by itself. The caller holds mu.
func (g *Guard) removeOldest() *block {
	if len(g.withheld) == 0 {
		return nil
	}
	return g.remove(max(0, slices.IndexFunc(g.withheld, func(k *block) bool { return !k.isFound() })))
}

// remove removes a withheld block. The caller holds mu.
func (g *Guard) remove(i int) *block {
	k := g.withheld[i]
	g.withheld = slices.Delete(g.withheld, i, i+1)
	g.usage.Withheld -= k.footprint
	delete(g.collected, k.Region)
	return k
}

// giveBack verifies a block, which is withheld no more, and gives it upstream. If that
// panics, it is withheld again.
func (g *Guard) giveBack(k *block) {
	if off, ok := k.written(); ok {
		g.o.Report(k.fault(off))
	}
	gone := false
	defer func() {
		if !gone {
			g.withholdAgain(k)
		}
	}()
	g.up.Free(k.Block)
	gone = true
}

// withholdAgain withholds a block that the upstream would not take. It was verified.
func (g *Guard) withholdAgain(k *block) {
	k.seal(g.up.OwnsRegions())
	g.mu.Lock()
	defer g.mu.Unlock()
	g.insert(k)
}

// FreeHeld gives back what is withheld.
func (g *Guard) FreeHeld() {
	if g == nil {
		return
	}
	for n := g.length(); n > 0; n-- {
		k := g.oldest()
		if k == nil {
			return
		}
		g.giveBack(k)
	}
}

func (g *Guard) length() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.withheld)
}

// oldest removes the oldest withheld block, nil if there is none.
func (g *Guard) oldest() *block {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.removeOldest()
}

// Stop is FreeHeld, and from now on nothing is drawn or withheld.
func (g *Guard) Stop() {
	if g == nil {
		return
	}
	g.off.Store(true)
	g.mu.Lock()
	g.stopped = true
	g.mu.Unlock()
	g.FreeHeld()
}

// Quarantine takes a block out of use for good that was forgotten while a slice of it may be
// in use. Where it cannot the block stays out.
func (g *Guard) Quarantine(b device.Block, _ int32) bool {
	if !g.up.OwnsRegions() || !g.up.GiveUp(device.Block{Region: b.Region, Len: b.Region.Size()}, g.up.Footprint(b)) {
		return false
	}
	g.take(b)
	return true
}

// At returns what touched addr, which is in pages that are inaccessible.
func (g *Guard) At(addr uintptr) (f Fault, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, k := range g.withheld {
		if off, ok := k.holds(addr); ok {
			return k.fault(off), true
		}
	}
	return f, false
}
