package pageheap

import (
	"github.com/bufslab/bufslab/slab/internal/align"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A growthPolicy decides how much to ask of an upstream so that at most a given
// share of allocations has to ask at all. It asks for the bytes that the program will
// add, net, until the next call is affordable, less the part of them that free memory
// will serve. A program in a steady state grows by its need and not a byte more. Calls
// that were not spent make later steps finer.
type growthPolicy struct {
	miss  float64 // calls an allocation
	calls int64   // made so far
	count int64   // allocations so far
	gets  int64   // Gets of the program, if the owner serves some of them by itself
	rate  float64 // net bytes that an allocation adds, a running mean over 1/miss of them
	high  int64   // most bytes ever managed

	equals equals
	beside int64 // of the calls, those for equal blocks that made a new peak
}

const (
	// The policy aims at missShare of the target, so that bursts stay within the target.
	missShare = 0.7
	// freeCalls are affordable without history, earlyCalls with a little: one for each
	// earlyShare allocations.
	freeCalls, earlyCalls = 4, 7
	earlyShare            = 15
	// reuseShare is the share of free memory, as a divisor, that will serve new blocks: most free
	// memory lies in gaps. A step is reduced by at most the same share, so that calls stay within the
	// target: missShare by seven eighths is below 1.
	reuseShare = 8
	// firstStep is the least first step of a heap: calls for less are wasted.
	firstStep = 64 << 10
	// From largeBlock on a segment has head-room only for more such blocks, and at most a largeShare of
	// the managed bytes, as a divisor. Segments cannot grow, and free memory of a segment goes back only
	// with the rest: for a large block head-room is a cost that no later step makes good.
	largeBlock = 256 << 10
	largeShare = 32
)

func newGrowthPolicy(target float64) growthPolicy { return growthPolicy{miss: target * missShare} }

// grew and shrank note an allocation, while used bytes are in use, and a free, in bytes as asked for.
func (g *growthPolicy) grew(size int, used int64) {
	g.count++
	g.rate += (float64(size) - g.rate) * g.miss
	if size >= largeBlock { // no other block is one of equals
		g.equals.grew(size, used)
	}
}

func (g *growthPolicy) shrank(size int) {
	g.rate -= float64(size) * g.miss
	if size >= largeBlock {
		g.equals.shrank(size)
	}
}

// grewTo notes the managed bytes of now, and whether the growth took a call upstream, for equal
// blocks or not.
func (g *growthPolicy) grewTo(managed int64, called, equal bool) {
	if called {
		g.calls++
	}
	if called && equal && managed > g.high {
		g.beside++
	}
	g.high = max(g.high, managed)
}

// asked returns the number of Gets of the program so far.
func (g *growthPolicy) asked() float64 { return float64(max(g.gets, g.count, 1)) }

// slack returns the bytes to ask for now beyond the need, if free bytes are free.
func (g *growthPolicy) slack(free int64) int {
	next := float64(g.count) / g.asked() / g.miss // allocations until a call is affordable
	added := max(0, g.rate) * next / (1 + max(0, g.budget()))
	return int(min(added-min(added, float64(free))/reuseShare, float64(upstream.MaxSize>>1)))
}

// budget returns the calls that are affordable now. The early ones are not for equal blocks.
func (g *growthPolicy) budget() float64 {
	early := max(freeCalls, min(earlyCalls, g.asked()/earlyShare)) + float64(g.beside)
	return max(early, g.miss*g.asked()) - float64(g.calls)
}

// step returns the bytes to grow by, a multiple of page, if need bytes are needed
// and least are wanted. It does not pass the old high-water mark unless need itself
// does, or calls are scarce. free of the managed bytes are free.
func (g *growthPolicy) step(need, least, page int, managed, free int64) int {
	n := align.Up(max(need, least, g.slack(free), firstStep-int(min(managed, firstStep))), page)
	if room := g.high - managed; room < int64(n) && g.budget() >= 1 {
		if room = room &^ int64(page-1); room >= int64(need) {
			return int(room)
		}
	}
	return n
}
