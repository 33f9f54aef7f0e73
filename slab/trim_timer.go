package slab

import (
	"math"
	"sync/atomic"
	"time"
	"weak"
)

// A trimTimer calls Trim by the clock, four times within Config.TrimAfter.
type trimTimer struct{ timer atomic.Pointer[time.Timer] }

const trimTicks = 4

// start lets the clock know the pool weakly, so that the pool can be forgotten.
func (t *trimTimer) start(p *pool) {
	if p.config.TrimAfter <= 0 {
		return
	}
	every := max(p.config.TrimAfter/trimTicks, 1)
	w := weak.Make(p)
	t.timer.Store(time.AfterFunc(math.MaxInt64, func() {
		if p := w.Value(); p != nil && !p.closed.Load() {
			p.trimHeld(trimTicks)
			p.trim.timer.Load().Reset(every)
		}
	}))
	t.timer.Load().Reset(every) // now that the function finds it
}

func (t *trimTimer) stop() {
	if timer := t.timer.Load(); timer != nil {
		timer.Stop()
	}
}
