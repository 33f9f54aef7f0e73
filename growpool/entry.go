package growpool

import (
	"slices"
	"sync"
	"sync/atomic"
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

// lock returns the entry of a key, locked. The caller ends with unlock.
func (p *Pool[K]) lock(key K) (*entry[K], error) {
	if !p.made() {
		return nil, errNotMade
	}
	for {
		e := p.table.add(key)
		e.mu.Lock()
		switch {
		case p.closed.Load():
			p.unlock(e)
			return nil, ErrClosed
		case !e.dead:
			return e, nil
		}
		e.mu.Unlock()
	}
}

// unlock unlocks an entry, and removes it if there is nothing to remember. A reclaim may have
// passed over the locked entry; so unlock wakes calls that wait for memory.
func (p *Pool[K]) unlock(e *entry[K]) {
	p.unlockQuietly(e)
	p.slab.Offer()
}

// unlockQuietly is unlock for a reclaim, which would wake its own caller. It looks for evictions
// after it has unlocked: until then an eviction could not lock the entry, and left the work to us.
// If another goroutine has locked the entry by now, that goroutine will look.
func (p *Pool[K]) unlockQuietly(e *entry[K]) {
	for done := false; !done; {
		e.mu.Unlock()
		if e.cur.Load() != nil || !e.mu.TryLock() {
			return
		}
		if done = e.cur.Load() == nil; done { // else an eviction may come now
			p.removeUnused(e)
		}
	}
	e.mu.Unlock()
}

// removeUnused removes a key without a buffer, if the key never had one or the pool has a budget.
// The caller holds e.mu.
func (p *Pool[K]) removeUnused(e *entry[K]) {
	if !e.dead && !e.turn.taken && (p.policy != nil || e.requests() == 0) {
		e.dead = true
		p.remember(e.counts())
		p.table.remove(e)
	}
}

func (p *Pool[K]) remember(s KeyStats) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.removed.add(s)
}

// evict takes a buffer from its key for good. The caller may hold locks of
// entries, and no other.
func (p *Pool[K]) evict(b *buffer) {
	do := b.change(evict)
	if do&unlink == 0 {
		return // the key does not have it
	}
	e := b.owner.(*entry[K])
	e.cur.CompareAndSwap(b, nil)
	defer func() { // also if the Release panics
		if e.mu.TryLock() {
			p.unlock(e)
		}
	}()
	b.perform(do)
}

// evictAll evicts all buffers, also if the Release of one panics.
func (p *Pool[K]) evictAll(list []*buffer) {
	i := 0
	defer func() {
		if i < len(list) {
			p.evictAll(list[i+1:])
		}
	}()
	for ; i < len(list); i++ {
		p.evict(list[i])
	}
}

// clear evicts the key's buffer. The caller holds e.mu.
func (p *Pool[K]) clear(e *entry[K]) {
	if b := e.cur.Load(); b != nil {
		p.evict(b)
	}
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
