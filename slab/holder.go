package slab

// A Holder keeps memory for reuse. Every strategy is one; all that direct ever holds is
// what its pool's upstream would not take.
type Holder interface {
	// FreeHeld gives everything upstream that is kept for reuse and can be
	// given: blocks that share a region with an active one have to stay.
	FreeHeld()
	// StopHolding is FreeHeld, and from now on nothing is kept that could go upstream.
	StopHolding()
}

// A Trimmer is a Holder that gives back what has not been used for a while.
type Trimmer interface {
	// Trim ends an epoch and gives back what has been held, untouched, for the last idle
	// epochs: Trim(0) gives back all that FreeHeld would, Trim(1) what was
	// held already when Trim was called last. It returns the bytes that went upstream.
	Trim(idle int) int64
}

// A pool's upstream can be a Holder itself: a strategy that the program has made and
// opened the pool on. What it holds is held by the pool, too.

// below returns the strategy, or what passes its blocks through, that upstream is or
// stands on. There may be none: then nothing is held, and nothing given.
func below(upstream Allocator) forward {
	for l := range layers(upstream) {
		if _, ok := l.(Holder); ok {
			return forward{upstream: l}
		}
	}
	return forward{}
}

// keptBelow is what the strategy below does with bytes that the pool does not have.
func keptBelow(upstream Allocator) Usage {
	u := below(upstream).Usage()
	u.ActiveBlocks, u.ActiveBytes = 0, 0
	return u
}
