package slab

import (
	"math"
	"sync/atomic"
	"time"
	"weak"
)

// A trimmer calls Trim by the clock, four times within the idle time.
type trimmer struct{ timer atomic.Pointer[time.Timer] }

const trimTicks = 4

// start lets the clock know the pool weakly, so that it can be forgotten.
func (t *trimmer) start(k *core) {
	if k.config.TrimAfter <= 0 {
		return
	}
	every := max(k.config.TrimAfter/trimTicks, 1)
	w := weak.Make(k)
	t.timer.Store(time.AfterFunc(math.MaxInt64, func() {
		if k := w.Value(); k != nil && !k.closed.Load() {
			k.trim(trimTicks, true)
			k.trimmer.timer.Load().Reset(every)
		}
	}))
	t.timer.Load().Reset(every) // now that the function finds it
}

func (t *trimmer) stop() {
	if timer := t.timer.Load(); timer != nil {
		timer.Stop()
	}
}
