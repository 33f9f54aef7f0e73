package growpool

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"github.com/bufslab/bufslab/internal/inside"
	"github.com/bufslab/bufslab/internal/underway"
	"github.com/bufslab/bufslab/slab"
)

// New returns a Pool whose buffers are of pool's memory. Several Pools can share pool.
// New panics if c is not valid, see [Config.Validate], or pool is nil.
func New[K comparable](pool *slab.Pool, c Config) *Pool[K] {
	if err := c.Validate(); err != nil || pool == nil {
		panic(fmt.Sprintf("growpool: New with pool %p: %v", pool, err))
	}
	if c.Growth == nil {
		c.Growth = Exact
	}
	if c.GCTrigger == 0 {
		c.GCTrigger = c.MaxBytes
	}
	p := &Pool[K]{slab: pool, config: c, ended: underway.Watcher(pool)}
	p.budget = &budget{max: math.MaxInt64, room: math.MaxInt64, pool: pool.Name()}
	p.budget.left.trigger, p.budget.left.total = c.GCTrigger, inside.Left(pool)
	p.life, p.end = context.WithCancel(context.Background())
	p.table.init()
	if c.MaxBytes > 0 {
		p.budget.limit(c.MaxBytes, cacheBytes(c.MaxBytes), keyBytes[K]())
		p.policy = newPolicy(p.budget.room, c.MaxBytes)
		runtime.AddCleanup(p, func(y *policy) { y.close() }, p.policy)
	}
	p.seen = p.policy != nil || c.Requested != nil
	startSweeps(p)
	p.share()
	return p
}

// Close is Clear, and makes every later Get and Acquire fail with ErrClosed.
// Active leases stay valid until they are released; the error has their number. Close a Pool before its slab.Pool,
// which then reports leases alone: what Get has shown is left to the collector, and is no leak.
func (p *Pool[K]) Close() error {
	p.must()
	if p.closed.Swap(true) {
		return nil
	}
	p.end()
	p.sweeps.Stop()
	p.letGo()
	if n := p.leases.Load(); n > 0 {
		return fmt.Errorf("growpool: pool closed with %d leases out", n)
	}
	return nil
}

// letGo gives up all held buffers, also if a Release panics.
func (p *Pool[K]) letGo() {
	defer p.unshare()
	defer p.Clear()
	if p.policy != nil {
		p.evictAll(p.policy.close())
	}
}
