// Package ticker calls a function by the clock for as long as its owner lives.
package ticker

import (
	"math"
	"time"
	"weak"
)

// A Ticker is what Start has started. A nil Ticker is stopped.
type Ticker struct{ timer *time.Timer }

// Start calls f(owner) again and again, each time d after the last call ended, until f returns
// false, or Stop is called, or nothing but the Ticker reaches owner. owner may hold the Ticker.
func Start[T any](owner *T, d time.Duration, f func(owner *T) (more bool)) *Ticker {
	t, w := new(Ticker), weak.Make(owner)
	t.timer = time.AfterFunc(math.MaxInt64, func() {
		if o := w.Value(); o != nil && f(o) {
			t.timer.Reset(d)
		}
	})
	t.timer.Reset(d) // now that the function finds it
	return t
}

// Stop ends the calls. One may still run, and the next one that is due ends by itself.
func (t *Ticker) Stop() {
	if t != nil {
		t.timer.Stop()
	}
}
