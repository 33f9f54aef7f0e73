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
// goroutines wants [Acquire]. Its zero value is not usable. Keys are compared by
// ==, so one that is not equal to itself, a NaN, is new each time.
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
	p.budget.valve = c.GCValve
	if c.GCValve == 0 {
		p.budget.valve = c.MaxBytes
	}
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
