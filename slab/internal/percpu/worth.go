package percpu

import "sync/atomic"

// Which blocks are worth keeping in a cache. A cache saves the way to the strategy, some hundred
// nanoseconds, and costs the memory of its blocks. So a block beyond the budget's share is for a
// class that would have saved enough with it: its Gets went to the strategy for blocks that its
// Releases had brought there.

// A demand counts the blocks that a class has asked for in vain, on all processors. Options.Lock guards it.
type demand struct {
	refused int32 // blocks that went to the strategy, and that no Get has asked for since
	missed  int32 // Gets that could have had such a block, since began
	began   int64 // nanoseconds
}

const (
	// lookEvery is the number of such Gets between two looks at the time.
	lookEvery = 16
	// mostRefused bounds refused: a program may release many blocks and never ask for them again.
	mostRefused = 4 * magazineSlots
	// earnShare is the share of its earned blocks, as a divisor, that a class earns at a time.
	earnShare = 8
	// mostEarned is more than a class can use, and far from overflow.
	mostEarned = 1 << 20
	// A class that asks farLess often loses earned blocks.
	farLess = 4
	// A block is worth its memory if it is asked for worthOften times a second: to save 100
	// nanoseconds that often is a third of a percent of a processor, and a program does not feel less.
	worthOften = 32e3
	// A block of few bytes is worth its memory if it saves worthBytes nanoseconds a second for each byte.
	worthBytes = 50
)

// wants are the demands of all classes, and their earned blocks: the number of blocks that a processor,
// and the depot, may have beyond the share.
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

// worth is the number of Gets in a time that make a block of a class worth its memory.
func (w *wants) worth(class int, nanoseconds int64) float64 {
	often := float64(w.options.blockBytes(class)) * worthBytes / float64(max(w.options.Miss, 1))
	return min(often, worthOften) * float64(nanoseconds) / 1e9
}
