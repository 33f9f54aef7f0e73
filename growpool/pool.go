package growpool

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/bufslab/bufslab/slab"
)

// A Pool keeps a buffer for every key, as large as the largest request for it
// so far. It is safe for concurrent use; who uses one key in several
// goroutines wants [Acquire]. Its zero value is not usable.
//
// A Pool that is itself forgotten leaves its buffers to the slab.Pool.
type Pool[K comparable] struct {
	table  table[K]
	keep   *keeper // nil without a budget
	slab   *slab.Pool
	config Config
	budget *budget
	closed atomic.Bool
	leases atomic.Int64
	sweep  sweeper

	mu   sync.Mutex // leaf
	gone KeyStats   // of keys that have left the table
}

// New returns a Pool whose buffers are of pool's memory. Several can share one.
// It panics if c is not valid, see [Config.Validate], or pool is nil.
func New[K comparable](pool *slab.Pool, c Config) *Pool[K] {
	if err := c.Validate(); err != nil || pool == nil {
		panic(fmt.Sprintf("growpool: New with pool %p: %v", pool, err))
	}
	if c.Growth == nil {
		c.Growth = Exact
	}
	p := &Pool[K]{slab: pool, config: c, budget: &budget{max: math.MaxInt64, room: math.MaxInt64}}
	p.table.init()
	if c.MaxBytes > 0 {
		p.budget.limit(c.MaxBytes, keyBytes[K]())
		p.keep = newKeeper(p.budget.room, c.MaxBytes)
		runtime.AddCleanup(p, func(k *keeper) { k.close() }, p.keep)
	}
	startSweeper(p)
	return p
}

// Clear takes every buffer from its key; the next Get of each is a miss.
// Statistics stay: see [Pool.ClearStats]. Views stay memory-safe on the Go heap, and
// leases last until they are released.
func (p *Pool[K]) Clear() {
	if p.keep != nil {
		p.evictAll(p.keep.clear())
	}
	for e := range p.table.all() {
		e.mu.Lock()
		p.lose(e)
		p.done(e)
	}
}

// Close is Clear, and has every later Get and Acquire fail with ErrClosed. Leases
// that are out stay good until they are released; their number is the error.
func (p *Pool[K]) Close() error {
	if p.closed.Swap(true) {
		return nil
	}
	p.sweep.stop()
	if p.keep != nil {
		p.evictAll(p.keep.close())
	}
	p.Clear()
	if n := p.leases.Load(); n > 0 {
		return fmt.Errorf("growpool: pool closed with %d leases out", n)
	}
	return nil
}

// enter returns the entry of a key, locked. It is to be left by done.
func (p *Pool[K]) enter(key K) (*entry[K], error) {
	for {
		e := p.table.add(key)
		e.mu.Lock()
		switch {
		case p.closed.Load():
			p.done(e)
			return nil, ErrClosed
		case !e.dead:
			return e, nil
		}
		e.mu.Unlock()
	}
}

// done unlocks an entry, and removes it if there is nothing to remember: it was
// asked for in vain only, or its buffer has gone from a pool with a budget.
// Whoever takes a buffer without the lock looks after that too, unless
// somebody has the lock; so who had it looks again.
func (p *Pool[K]) done(e *entry[K]) {
	for {
		if p.over(e) {
			e.dead = true
			p.remember(e.counts())
			p.table.remove(e)
		}
		e.mu.Unlock()
		if p.keep == nil || e.cur.Load() != nil || !e.mu.TryLock() {
			return
		}
		if !p.over(e) {
			e.mu.Unlock()
			return
		}
	}
}

func (p *Pool[K]) over(e *entry[K]) bool {
	return !e.dead && e.cur.Load() == nil && !e.turn.taken && (p.keep != nil || e.requests() == 0)
}

func (p *Pool[K]) remember(s KeyStats) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone.add(s)
}

// lose takes the buffer from the key for good.
func (p *Pool[K]) lose(e *entry[K]) {
	if b := e.take(); b != nil {
		b.state.Store(dropped)
		b.drop()
	}
}

// evict is lose for a buffer that the cache has let go of. Nothing is locked.
func (p *Pool[K]) evict(b *buffer) {
	b.evicted.Store(true)
	e := b.owner.(*entry[K])
	if !e.cur.CompareAndSwap(b, nil) {
		return
	}
	b.state.Store(dropped)
	b.drop()
	if e.mu.TryLock() {
		p.done(e)
	}
}

func (p *Pool[K]) evictAll(list []*buffer) {
	for _, b := range list {
		p.evict(b)
	}
}

// obtain returns a buffer of n bytes or more for a key whose lock the caller has,
// with a reference for the caller. must says that the memory stays the pool's
// although the key may not keep it.
func (p *Pool[K]) obtain(e *entry[K], n int, must bool) (*buffer, error) {
	have := 0
	if b := e.cur.Load(); b != nil && b.hold() {
		if n <= b.size {
			e.hits.add()
			return b, nil
		}
		have = b.size
		b.drop()
	}
	if int64(n) > p.budget.max {
		return nil, p.budget.refusal(n)
	}
	old := p.putAside(e)
	b, err := p.provide(e, have, n, must)
	if err != nil {
		p.putBack(e, old, have)
		return nil, err
	}
	if have > 0 {
		e.grows++
	} else {
		e.misses++
	}
	if old != nil && old.shown.Load() {
		old.state.Store(replaced)
		old.drop()
	}
	return b, nil
}

// putAside makes room for a larger buffer: contents are not kept, so the old one
// goes first, to the slab.Pool if nobody can see it.
func (p *Pool[K]) putAside(e *entry[K]) *buffer {
	old := e.take()
	switch {
	case old == nil:
	case old.shown.Load():
		old.refund()
	default:
		old.drop()
	}
	return old
}

// putBack undoes putAside as far as it can be undone: if in between somebody took
// the room, the key goes without.
func (p *Pool[K]) putBack(e *entry[K], old *buffer, have int) {
	switch {
	case old == nil:
	case !old.shown.Load():
		if b, err := p.make(e, have, false); err == nil {
			b.drop()
		}
	case p.reserve(e, old):
		p.give(e, old)
	default:
		old.state.Store(dropped)
		old.drop()
	}
}

// provide makes a buffer as large as the policy says, or if there is no room for
// that as large as it has to be.
func (p *Pool[K]) provide(e *entry[K], have, want int, must bool) (*buffer, error) {
	if size := p.config.Growth(have, want); size > want && int64(size) <= p.budget.max {
		if b, err := p.make(e, size, must); err == nil || !outOfMemory(err) {
			return b, err
		}
	}
	return p.make(e, want, must)
}

// make makes a buffer and gives it to the key, if it may keep it, and a
// reference to the caller.
func (p *Pool[K]) make(e *entry[K], size int, must bool) (*buffer, error) {
	b := newBuffer(size, p.budget, e, e.key)
	kept := p.reserve(e, b)
	if !kept && must && !p.shed(e, b) {
		return nil, p.budget.refusal(size)
	}
	if err := b.fillPatiently(p.slab); err != nil {
		if kept {
			p.unkeep(e)
		}
		b.refund()
		return nil, err
	}
	if kept {
		b.hold()
		p.give(e, b)
	}
	return b, nil
}

// give makes b the key's, unless the cache has changed its mind meanwhile.
func (p *Pool[K]) give(e *entry[K], b *buffer) {
	e.cur.Store(b)
	if b.evicted.Load() {
		p.evict(b)
	}
}

// reserve gets leave for the key to keep b, from the cache and the budget.
func (p *Pool[K]) reserve(e *entry[K], b *buffer) bool {
	if p.keep != nil {
		gone, ok := p.keep.admit(e.id, b, int64(b.size)+p.budget.perKey)
		p.evictAll(gone)
		if !ok {
			return false
		}
	}
	if !p.charge(b) {
		p.unkeep(e) // leases have the room
		return false
	}
	return true
}

func (p *Pool[K]) charge(b *buffer) bool {
	ok := p.budget.reserve(b.size)
	b.charged.Store(ok)
	return ok
}

func (p *Pool[K]) unkeep(e *entry[K]) {
	if p.keep != nil {
		p.evictAll(p.keep.remove(e.id))
	}
}

// shed finds room for a buffer in use by dropping buffers that are not.
func (p *Pool[K]) shed(e *entry[K], b *buffer) bool {
	if p.charge(b) {
		return true
	}
	for x := range p.table.all() {
		if idle := x.cur.Load(); x != e && idle != nil && idle.refs.Load() == 1 {
			p.unkeep(x)
			p.evict(idle)
			if p.charge(b) {
				return true
			}
		}
	}
	return false
}
