// Package watch is what looks on while a pool works: call sites, recordings, samples and
// what was forgotten. A pool tells a [Log] what was got, released and forgotten, and a [Sampler]
// which Gets are drawn; neither knows of a pool, nor of the other.
//
//	log.go      a Log: what each buffer's owner did, and where
//	parts.go    the parts of a buffer in it
//	tell.go     who is told of what was forgotten
//	sampler.go  samples by stack
//	caller.go   which call of a stack is the program's
//	leak.go     one line of a list of leaks
package watch

import (
	"cmp"
	"slices"
)

// A Leak is a buffer that was not released, or, by samples, all that were got at one place: see
// slab.Leak.
type Leak struct {
	Bytes     int
	Stack     []uintptr // of its Get; nil if it is not known
	Forgotten bool
	Sampled   int64
	First     bool // of its place to go into quarantine, though the program may have a slice
}

// SortLeaks sorts by size, the smallest first.
func SortLeaks(list []Leak) {
	slices.SortFunc(list, func(a, b Leak) int { return cmp.Compare(a.Bytes, b.Bytes) })
}
