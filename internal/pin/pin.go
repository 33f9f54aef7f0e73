// Package pin lets a goroutine own a processor, in the scheduler's sense, for a
// moment: what is kept a processor needs no lock then.
//
// Between Pin and Unpin the goroutine must not block, allocate, call what it does
// not know, or panic: a panic while pinned ends the process. A dozen plain
// instructions is what it is for.
//
//	linked.go      the runtime's own pinning: the goroutine is not preempted
//	portable.go    with the build tag bufslab_portable, numbers from a sync.Pool: it
//	               may be preempted, and keeps its number meanwhile
//	race.go        for the race detector, which has to see what synchronises with
//	               what: numbers are not exclusive; keep a lock
package pin

import "runtime"

// processors is how many there are, or were asked for.
func processors() int { return max(runtime.GOMAXPROCS(0), runtime.NumCPU()) }
