package slab

import (
	"sync/atomic"
	"time"
	"weak"
)

// A trimmer calls Trim by the clock, four times within the idle time.
type trimmer struct{ timer atomic.Pointer[time.Timer] }

const trimTicks = 4

// start lets the clock know the pool weakly, so that it can be forgotten.
func (t *trimmer) start(k *core) {
	every := k.config.TrimAfter / trimTicks
	if every <= 0 {
		return
	}
	w := weak.Make(k)
	t.timer.Store(time.AfterFunc(every, func() {
		if k := w.Value(); k != nil && !k.closed.Load() {
			k.trim(trimTicks)
			k.trimmer.timer.Load().Reset(every)
		}
	}))
}

func (t *trimmer) stop() {
	if timer := t.timer.Load(); timer != nil {
		timer.Stop()
	}
}
