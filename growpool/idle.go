package growpool

import (
	"math"
	"sync/atomic"
	"time"
	"weak"
)

// A sweeper looks four times within IdleAfter which keys were asked for. A hit
// does not note its time: the sweeper compares the numbers of requests.
type sweeper struct{ timer atomic.Pointer[time.Timer] }

const sweeps = 4

// startSweeper gives the timer a weak pointer to the pool, so that the pool can
// be forgotten.
func startSweeper[K comparable](p *Pool[K]) {
	if p.config.IdleAfter <= 0 {
		return
	}
	every := max(p.config.IdleAfter/sweeps, 1)
	w := weak.Make(p)
	p.sweep.timer.Store(time.AfterFunc(math.MaxInt64, func() {
		if p := w.Value(); p != nil && !p.closed.Load() {
			p.sweepIdle()
			p.sweep.timer.Load().Reset(every)
		}
	}))
	p.sweep.timer.Load().Reset(every) // now that the function finds it
}

func (s *sweeper) stop() {
	if t := s.timer.Load(); t != nil {
		t.Stop()
	}
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
