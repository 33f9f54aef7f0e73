package slab

// An effort says which steps alloc takes when there is no room. Each effort takes all steps of the lower
// ones.
type effort int

const (
	quickly effort = iota // empties the caches
	again                 // gives back held memory, here and elsewhere
	atOnce                // looks for forgotten buffers: all steps that need no wait for a stream
	fully                 // waits for streams
	growing               // fully, for a Grow, which tells the log itself
)
