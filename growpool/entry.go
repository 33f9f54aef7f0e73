package growpool

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// An entry is what a pool knows of a key. A hit reads cur and adds to hits, and
// takes no lock. cur is set under mu only; a goroutine that moves the buffer out
// of the states kept and shown clears it, with mu or without.
type entry[K comparable] struct {
	key  K
	id   uint64 // the key's number in the cache: see table.id
	hash uint64 // of the key, as the table has it: a NaN has another hash each time
	cur  atomic.Pointer[buffer]
	hits counter

	shape atomic.Pointer[[]int] // the last of more than two dimensions

	misses, grows atomic.Int64 // written under mu

	mu     sync.Mutex // for all that follows
	hidden KeyStats   // counts from before ClearStats
	turn   turn
	dead   bool  // no longer in the table
	seen   int64 // requests at the last sweep
	quiet  int   // sweeps that found no new requests
}

func newEntry[K comparable](key K, id uint64) *entry[K] {
	e := &entry[K]{key: key, id: id}
	e.hits.init()
	return e
}

func (e *entry[K]) name() any { return e.key }

// counts returns the key's counts since ClearStats. The caller holds mu.
func (e *entry[K]) counts() KeyStats {
	s := e.total()
	return KeyStats{Hits: s.Hits - e.hidden.Hits, Misses: s.Misses - e.hidden.Misses, Grows: s.Grows - e.hidden.Grows}
}

func (e *entry[K]) total() KeyStats {
	return KeyStats{Hits: e.hits.load(), Misses: e.misses.Load(), Grows: e.grows.Load()}
}

// requests returns the number of requests for the key.
func (e *entry[K]) requests() int64 { return e.hits.load() + e.misses.Load() + e.grows.Load() }

// intern returns a copy of shape that may be kept: the last copy, if the shape is the same.
func (e *entry[K]) intern(shape []int) *[]int {
	if s := e.shape.Load(); s != nil && slices.Equal(*s, shape) {
		return s
	}
	s := slices.Clone(shape)
	e.shape.Store(&s)
	return &s
}

// A turn lets one lease at a time have a key, in the order in which they came.
// It is guarded by the entry's mu.
type turn struct {
	taken   bool
	waiting []chan struct{}
}

// join queues the caller. Its turn has come when the channel is closed.
func (t *turn) join() chan struct{} {
	w := make(chan struct{})
	t.waiting = append(t.waiting, w)
	return w
}

// pass ends a turn and begins the next one.
func (t *turn) pass() {
	if len(t.waiting) == 0 {
		t.taken = false
		return
	}
	close(t.waiting[0])
	t.waiting = slices.Delete(t.waiting, 0, 1)
}

// leave gives up waiting, and the turn if it has just come.
func (t *turn) leave(w chan struct{}) {
	if i := slices.Index(t.waiting, w); i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
		return
	}
	t.pass()
}

// KeyStats has the counts of a key. Hits + Misses + Grows is the number of its
// requests that succeeded.
type KeyStats struct {
	Hits   int64 // requests that the key's buffer had room for, or that need no room
	Misses int64 // requests when the key had no buffer, or for a private one
	Grows  int64 // requests that replaced the buffer by a larger one
	Bytes  int64 // of the buffer now
}

func (s *KeyStats) add(o KeyStats) {
	s.Hits += o.Hits
	s.Misses += o.Misses
	s.Grows += o.Grows
	s.Bytes += o.Bytes
}

// keyBytes is the size of a key's bookkeeping: its entry, counters and buffer,
// up to eight slots of the table, and the notes of the cache and the slab.Pool.
func keyBytes[K comparable]() int64 {
	const elsewhere = 256
	return int64(unsafe.Sizeof(entry[K]{})+unsafe.Sizeof(buffer{})) + lineBytes + 8*8 + elsewhere
}
