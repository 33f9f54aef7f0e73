// Package pin lets a goroutine own its processor, in the scheduler's sense,
// for a moment: what is kept a processor needs no lock then.
//
// Between Pin and Unpin the goroutine is not preempted. It must not block,
// allocate, call what it does not know, or panic there: a panic while pinned
// ends the process. A dozen plain instructions is what it is for.
//
// Where that cannot be had (the race detector has to see what
// synchronises with what; the build tag bufslab_portable asks for it) Pin only chooses a
// number that tends to be the processor's, and Exclusive is false: keep a lock.
package pin
