//go:build !race

package slab

// askedBytes is a number that a buffer's owner writes, and nobody reads before
// the collector has found that there is no owner any more: that is all the
// synchronisation it takes, but the race detector does not know it.
type askedBytes struct{ n int64 }

func (a *askedBytes) Store(n int64) { a.n = n }
func (a *askedBytes) Load() int64   { return a.n }
