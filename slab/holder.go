package slab

// A Holder keeps memory for reuse. Every strategy but direct is one.
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
