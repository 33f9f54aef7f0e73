package growpool

import (
	"slices"
	"sync"
	"sync/atomic"
)

// An entry is what a pool knows of a key. A hit reads cur and adds to hits,
// and that is all; the rest is for whoever holds mu. A buffer leaves cur by a
// swap, with mu or without: whoever swaps it out has its key's reference.
type entry[K comparable] struct {
	key  K
	id   uint64 // its hash, by which the cache knows it
	cur  atomic.Pointer[buffer]
	hits counter

	mu            sync.Mutex // before the keeper's
	misses, grows int64
	hidden        KeyStats // counts from before ClearStats
	turn          turn
	dead          bool                  // not in the table any more
	seen          int64                 // requests when the sweeper came by
	quiet         int                   // times that it saw no new ones
	shape         atomic.Pointer[[]int] // the last of more than two dimensions
}

func newEntry[K comparable](key K, id uint64) *entry[K] {
	e := &entry[K]{key: key, id: id}
	e.hits.init()
	return e
}

// counts returns what happened to the key since ClearStats. The caller has mu.
func (e *entry[K]) counts() KeyStats {
	s := e.total()
	return KeyStats{Hits: s.Hits - e.hidden.Hits, Misses: s.Misses - e.hidden.Misses, Grows: s.Grows - e.hidden.Grows}
}

func (e *entry[K]) total() KeyStats {
	return KeyStats{Hits: e.hits.load(), Misses: e.misses, Grows: e.grows}
}

// requests returns how often the key was asked for.
func (e *entry[K]) requests() int64 { return e.hits.load() + e.misses + e.grows }

// take takes the buffer from the key, nil if there is none.
func (e *entry[K]) take() *buffer { return e.cur.Swap(nil) }

// intern returns a copy of shape that may be kept, the last one if it is the same.
func (e *entry[K]) intern(shape []int) *[]int {
	if s := e.shape.Load(); s != nil && slices.Equal(*s, shape) {
		return s
	}
	s := slices.Clone(shape)
	e.shape.Store(&s)
	return &s
}
