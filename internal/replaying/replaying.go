// Package replaying lets package trace decide, for a pool that it replays a trace on,
// what else the machine and the moment decide: how many processors there are and on which
// one a call runs, what time it is, and when the collector is heard. So a replay repeats
// bit for bit. It is internal as no program has a use for it.
package replaying

// A Machine is what a pool runs on. It is for the one goroutine that uses the pool.
type Machine struct {
	RunOn   func(processor int)     // lets the calls that follow run as on a processor
	Advance func(nanoseconds int64) // sets the clock, which stays where that is not later; nil where the pool has none
	SetTime func(nanoseconds int64) // tells the caches the time of the recording; without it they estimate theirs

	Uncached func() int64 // counts the Gets that no processor's cache has served
}

// Reopen opens a *slab.Pool, which has no buffers out, again as it was configured, on a
// Machine of so many processors. It runs on processor 0 at time 0. Package slab sets it.
var Reopen func(pool any, processors int) (Machine, error)

// An Extent is a run of bytes of a pool's page heap: part of a region that the heap has from
// the device, which regions are numbered.
type Extent struct {
	Region, Off, Len int
	State            State
}

// A State says what the bytes of an Extent are.
type State uint8

const (
	Used        State = iota // in the program's hands, in a processor's cache, or in a slab
	Free                     // memory that the heap holds for later blocks
	Decommitted              // addresses without memory behind them
	Lost                     // never handed out again
)

// Extents returns what a *slab.Pool has in its page heap, by region and address, and false
// if its strategy has no page heap. Package slab sets it.
var Extents func(pool any) ([]Extent, bool)
