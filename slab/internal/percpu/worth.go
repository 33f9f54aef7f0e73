package percpu

import "sync/atomic"

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
	options *Options
	demands []demand
	earned  []atomic.Int32 // written under Options.Lock
	now     func() int64   // nanoseconds
}

func newWants(o *Options, classes int, now func() int64) wants {
	return wants{o, make([]demand, classes), make([]atomic.Int32, classes), now}
}

// refused notes n blocks of a class that go to the strategy as no cache took them. The caller
// holds Options.Lock.
func (w *wants) refused(class int, n int32) {
	d := &w.demands[class]
	d.refused = min(d.refused+n, mostRefused)
}

// missed notes a Get of a class that the strategy serves. The caller holds Options.Lock.
func (w *wants) missed(class int) {
	d := &w.demands[class]
	if d.refused == 0 {
		return
	}
	d.refused--
	if d.missed++; d.missed < lookEvery {
		return
	}
	now := w.now()
	worth := w.worth(class, now-d.began)
	switch e := &w.earned[class]; {
	case worth <= lookEvery:
		e.Store(min(e.Load()+1+e.Load()/earnShare, mostEarned))
	case worth > farLess*lookEvery && e.Load() > 0:
		e.Store(e.Load() - 1 - e.Load()/earnShare)
	}
	d.missed, d.began = 0, now
}

// worth is how many Gets in a time make a block of a class worth its memory.
func (w *wants) worth(class int, nanoseconds int64) float64 {
	often := float64(w.options.blockBytes(class)) * worthBytes / float64(max(w.options.Miss, 1))
	return min(often, worthOften) * float64(nanoseconds) / 1e9
}

// A use is what a processor has seen of a class cache when it last looked whether that is worth its
// blocks.
type use struct {
	touched uint32
	at      int64
}

// seldom reports whether a class cache has served far fewer than makes it worth its blocks since the
// last look, and looks again.
func (u *use) seldom(w *wants, class int, touched uint32) bool {
	was := *u
	*u = use{touched, w.now()}
	return farLess*float64(touched-was.touched) <= w.worth(class, u.at-was.at)
}
