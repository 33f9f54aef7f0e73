package slab

import (
	"runtime"
	"weak"
)

// A sentinel is reached by nobody, so its finalizer runs after every
// collection: the clock of programs that have no other. It knows the pool
// weakly and sets itself up again as long as that is open.
type sentinel struct {
	core weak.Pointer[core]
}

func (k *core) watchCollections() {
	s := &sentinel{weak.Make(k)}
	runtime.SetFinalizer(s, (*sentinel).collected)
}

func (s *sentinel) collected() {
	k := s.core.Value()
	if k == nil || k.closed.Load() {
		return
	}
	runtime.SetFinalizer(s, (*sentinel).collected)
	go k.endEpoch() // it may go upstream, and others wait for this goroutine
}

// idleCollections is how many collections without a Get or Release make a pool
// idle, and how many memory of the Go heap is held untouched: what sync.Pool
// gives its contents.
const idleCollections = 2

// endEpoch gives back what was not needed for a while. A pool that nobody uses
// gives back all that it holds. On the Go heap, where memory that is held
// makes collections rarer, one in use gives back what it has not touched.
func (k *core) endEpoch() {
	k.ending.Lock() // or of two at once one might not count
	defer k.ending.Unlock()
	defer k.epochs.Add(1)
	k.sweep()
	_, gets, puts, _ := k.cache.usage()
	traffic := gets + puts
	if traffic == k.traffic.Swap(traffic) {
		if k.idle.Add(1) == idleCollections {
			k.trim(0, true)
		}
		return
	}
	k.idle.Store(0)
	if k.config.Strategy == "sizeclass" && onHeap(k.config) {
		k.trim(idleCollections, false)
	}
}
