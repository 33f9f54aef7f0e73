package percpu

import (
	"sync/atomic"
	"time"
)

// Which blocks are worth keeping in a cache. A cache saves the way to the strategy, some hundred
// nanoseconds, and costs the memory of its blocks. So a block beyond the budget's share is for a
// class that would have saved enough with it: Gets that went to the strategy for what a Release
// had taken there.

// A demand is what a class has asked for in vain, on all processors. Options.Lock guards it.
type demand struct {
	refused int32 // blocks that went to the strategy, and that no Get has asked for since
	missed  int32 // Gets that could have had one of them, since began
	began   int64 // nanoseconds
}

const (
	// lookEvery is how many such Gets are counted before the time is looked at.
	lookEvery = 16
	// mostRefused bounds what is remembered: a program may release much and ask for it no more.
	mostRefused = 4 * magazineSlots
	// earnShare of what a class has earned, as a divisor, is what it earns more at a time.
	earnShare = 8
	// mostEarned is more than a class can use, and far from overflow.
	mostEarned = 1 << 20
	// A class that asks farLess often loses of what it has earned.
	farLess = 4
	// A block is worth its memory if it is asked for worthOften times a second: to save 100
	// nanoseconds as often is a third of a percent of a processor, and a program feels nothing of less.
	worthOften = 32e3
	// One of few bytes is worth it if that saves worthBytes nanoseconds a second for each byte.
	worthBytes = 50
)

// wants are the demands of all classes, and what they have earned: so many blocks a processor, and
// the depot, may have beyond the share.
type wants struct {
	demands []demand
	earned  []atomic.Int32 // written under Options.Lock
	start   time.Time
}

func newWants(classes int) wants {
	return wants{make([]demand, classes), make([]atomic.Int32, classes), time.Now()}
}

// Refused notes n blocks of a class that go to the strategy as no cache took them. The caller
// holds Options.Lock.
func (c *Cache) Refused(class int, n int32) {
	if class < c.classes {
		d := &c.wants.demands[class]
		d.refused = min(d.refused+n, mostRefused)
	}
}

// Missed notes a Get of a class that the strategy serves. The caller holds Options.Lock.
func (c *Cache) Missed(class int) {
	if class >= c.classes {
		return
	}
	d := &c.wants.demands[class]
	if d.refused == 0 {
		return
	}
	d.refused--
	if d.missed++; d.missed < lookEvery {
		return
	}
	now := c.now()
	often := c.often(class) * float64(now-d.began) / 1e9
	switch e := &c.wants.earned[class]; {
	case often <= lookEvery:
		e.Store(min(e.Load()+1+e.Load()/earnShare, mostEarned))
	case often > farLess*lookEvery && e.Load() > 0:
		e.Store(e.Load() - 1 - e.Load()/earnShare)
	}
	d.missed, d.began = 0, now
}

// now returns nanoseconds. A replay has no time: it takes as long as a program that uses all that
// it gets.
func (c *Cache) now() int64 {
	if !c.options.Replayed {
		return int64(time.Since(c.wants.start))
	}
	gets, got := c.counts.gets, c.counts.got
	for i := range c.cpus {
		n, _ := c.cpus[i].served()
		gets += n
	}
	for i := range c.caches {
		got += c.caches[i].got
	}
	return 100*gets + got/8
}

// A use is what a processor has seen of a class cache when it last looked whether that is worth its
// blocks.
type use struct {
	touched uint32
	at      int64
}

// letGo looks at the class cache of the next class, each time that lookEvery blocks were refused. One
// that is beyond the share, and is not asked often enough, loses its blocks. The caller is pinned.
func (c *Cache) letGo(p *cpu, b budget) (out *magazine) {
	if p.refused++; p.refused%lookEvery != 0 {
		return nil
	}
	if p.looked++; p.looked >= len(p.caches) {
		p.looked = 0
	}
	k, u := &p.caches[p.looked], &p.uses[p.looked]
	limit := k.limit.Load()
	if limit <= 0 || c.BlockBytes(p.looked) <= b.small && p.granted <= b.share {
		return nil
	}
	now, touched := c.now(), k.touched()
	was := *u
	*u = use{touched, now}
	if float64(touched-was.touched)*1e9 > c.often(p.looked)/farLess*float64(now-was.at) || !k.limit.CompareAndSwap(limit, 0) {
		return nil
	}
	return c.detach(p, p.looked, limit, nil)
}

// often is how often a block of a class has to be asked for.
func (c *Cache) often(class int) float64 {
	return min(float64(c.BlockBytes(class))*worthBytes/float64(max(c.options.Miss, 1)), worthOften)
}
