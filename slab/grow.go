package slab

import (
	"errors"

	"github.com/bufslab/bufslab/device"
)

// unit is the least that a segment grows by where the upstream does not say.
const unit = 4 << 10

// rangeBytes is what a range is asked to reserve, unless a block needs more.
// Addresses cost no memory, but all pools of a process share them, 128 TiB as
// a rule, with the Go heap: 128 GiB each leave room for hundreds of pools, and
// a pool that needs more opens another range.
const rangeBytes = min(1<<37, (uint64(maxInt)+1)>>5)

// rangeFor returns what to reserve so that n bytes fit, whatever the page is.
func rangeFor(n int) int { return max(int(rangeBytes), n+n/8+8<<20) }

// grow gets memory from upstream so that n bytes fit, or says why it cannot.
// On out of memory it wants less, then gives back what is held, then fails.
func (a *arena) grow(n int) error {
	a.growing.Lock()
	defer a.growing.Unlock()
	a.mu.Lock()
	fits := a.find(free, n) != none // since the caller looked
	a.mu.Unlock()
	if fits {
		return nil
	}
	err := a.more(n, false)
	if outOfMemory(err) {
		err = a.more(n, true)
	}
	if outOfMemory(err) && a.shed(0) > 0 {
		err = a.more(n, true)
	}
	return err
}

// more goes upstream once for n bytes, and for nothing beyond if exact.
func (a *arena) more(n int, exact bool) error {
	if !a.fixed {
		err := a.extend(n, exact)
		if !errors.Is(err, device.ErrUnavailable) {
			return err
		}
		a.fixed = true
	}
	return a.addSegment(n, exact)
}

// extend commits memory at the top of the current range, or in a hole of any
// where that takes less. It opens another range only where no hole will do:
// addresses of full ranges are used up first.
func (a *arena) extend(n int, exact bool) error {
	p, ok := a.plan(n, exact)
	if !ok {
		if err := a.openRange(n); err != nil {
			return err
		}
		p, _ = a.plan(n, exact)
	}
	if err := p.rng.Commit(p.off, p.len); err != nil {
		a.closeBare(p)
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if p.hole != none {
		a.fillLocked(p.hole, p.len)
	} else {
		a.heap.extend(a.segs[a.current].edge, p.len)
	}
	a.managed += int64(p.len)
	a.called(a.managed)
	return nil
}

// closeBare closes the range of a plan that failed if nothing was ever
// committed there: no chunk of it would remind us to.
func (a *arena) closeBare(p plan) {
	a.mu.Lock()
	s := a.current
	if p.hole != none || a.at(a.segs[s].edge).prev != none {
		a.mu.Unlock()
		return
	}
	a.removeLocked(s)
	a.mu.Unlock()
	a.must(p.rng.Close())
}

// openRange makes a range current that has n bytes of addresses left, a new
// one if need be.
func (a *arena) openRange(n int) error {
	a.mu.Lock()
	for s := range a.segs {
		if a.segs[s].rng != nil && a.roomLocked(int32(s)) >= n {
			a.current = int32(s)
			a.mu.Unlock()
			return nil
		}
	}
	a.mu.Unlock()
	rng, err := reserveOf(a.upstream, rangeFor(n))
	if err != nil {
		return err
	}
	if rng.Region().Size() < n+rng.Page() {
		return errors.Join(device.ErrOutOfMemory, rng.Close())
	}
	a.mu.Lock()
	a.current = a.addLocked(segment{block: device.Block{Region: rng.Region(), Len: rng.Region().Size()}, rng: rng})
	a.mu.Unlock()
	return nil
}

// roomLocked is how many bytes of addresses range i has left for certain: the
// last page may be needed to round up.
func (a *arena) roomLocked(i int32) int {
	s := &a.segs[i]
	return s.rng.Region().Size() - a.at(s.edge).off - s.rng.Page()
}

// stepLocked is growth's step, but for no more beyond need than may be held:
// it would have to go back at the next Free.
func (a *arena) stepLocked(need, least, page int) int {
	n := a.step(need, least, page, a.managed)
	if a.maxHeld > int64(n) {
		return n
	}
	return min(n, roundUp(need, page)+roundDown(int(a.maxHeld), page))
}

// A plan says which bytes of a range to commit.
type plan struct {
	rng      device.Range
	off, len int
	hole     int32 // none: at the top
}

// plan picks the cheapest place for n bytes: a hole, where the free memory
// before it counts, or the top, where a free tail does. It reports false if
// there is none. A hole may take a page more than the top: always to take the
// cheaper one made a range that is trimmed again and again grow for ever.
func (a *arena) plan(n int, exact bool) (best plan, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	least, step := maxInt, n
	if a.current >= 0 && a.roomLocked(a.current) >= n {
		if a.decommit && !exact {
			a.punchLocked(n)
		}
		best, least = a.topLocked(n, exact)
		least += best.rng.Page()
		step = best.len
	}
	a.eachHole(n, func(i int32) {
		h := a.at(i)
		rng := a.segs[h.seg].rng
		if k := roundUp(max(n-a.freeLen(h.prev), 1), rng.Page()); k <= min(h.len, least) {
			least = k
			best = plan{rng: rng, off: h.off, len: min(h.len, max(k, roundDown(step, rng.Page()))), hole: i}
		}
	})
	return best, best.rng != nil
}

// topLocked is the plan for the top of the current range, and the least that
// would do there.
func (a *arena) topLocked(n int, exact bool) (p plan, least int) {
	s := a.segs[a.current]
	top, page := a.at(s.edge).off, s.rng.Page()
	need := max(n-a.freeLen(a.at(s.edge).prev), 1)
	least = roundUp(need, page)
	p = plan{rng: s.rng, off: top, len: least}
	if !exact {
		p.len = min(a.stepLocked(need, 0, page), s.rng.Region().Size()-top)
	}
	return p, least
}

// eachHole calls f with some holes that may take n bytes: one that holds them
// alone, and those that follow the largest free chunks.
func (a *arena) eachHole(n int, f func(int32)) {
	if a.index[hole].count == 0 {
		return
	}
	if i := a.find(hole, n); i != none {
		f(i)
	}
	for i, most := a.largest(free), 16; i != none && most > 0; most-- {
		if next := a.at(i).next; a.at(next).state == hole {
			f(next)
		}
		i = a.at(i).down
	}
}

// freeLen returns the length of i if it is free memory.
func (a *arena) freeLen(i int32) int {
	if i == none || a.at(i).state != free {
		return 0
	}
	return a.at(i).len
}

// fillLocked makes the first n bytes of a hole free memory.
func (a *arena) fillLocked(i int32, n int) {
	a.unlist(i)
	if a.at(i).len > n {
		a.list(a.split(i, n), hole)
	}
	a.merge(i, free)
}

// addSegment gets a region of its own. Wholly free segments go back first
// where the pool would otherwise pass its old peak: each of them is too small
// for n, or it would have been used.
func (a *arena) addSegment(n int, exact bool) error {
	size := roundUp(n, unit)
	if !exact {
		a.mu.Lock()
		size = a.stepLocked(n, 2*n, unit)
		over := a.managed + int64(size) - a.high
		a.mu.Unlock()
		if over > 0 && a.high > 0 && a.shedSegments(over) > 0 {
			a.mu.Lock()
			size = a.stepLocked(n, 2*n, unit)
			a.mu.Unlock()
		}
	}
	b, err := drawWhole(a.upstream, size)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.addLocked(segment{block: b})
	a.heap.extend(a.segs[s].edge, size)
	whole := footprint(b, a.own)
	a.excess += whole - int64(size)
	a.managed += whole
	a.called(a.managed)
	return nil
}
