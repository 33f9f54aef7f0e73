package growpool

import "github.com/bufslab/bufslab/internal/ticker"

// sweeps is the number of sweeps within IdleAfter. A hit does not note its time: a sweep compares
// the numbers of requests.
const sweeps = 4

func startSweeps[K comparable](p *Pool[K]) {
	if p.config.IdleAfter <= 0 {
		return
	}
	p.sweeps = ticker.Start(p, max(p.config.IdleAfter/sweeps, 1), func(p *Pool[K]) bool {
		if p.closed.Load() {
			return false
		}
		p.sweepIdle()
		return true
	})
}

// sweepIdle takes the buffers of keys that the last sweeps saw no request for.
// A key whose entry is locked or leased is not idle.
func (p *Pool[K]) sweepIdle() {
	for e := range p.table.all() {
		if !e.mu.TryLock() {
			continue
		}
		if n := e.requests(); n != e.seen || e.turn.taken {
			e.seen, e.quiet = n, 0
		} else if e.quiet++; e.quiet >= sweeps && e.cur.Load() != nil {
			p.expel(e)
			p.clear(e)
		}
		p.unlock(e)
	}
}
