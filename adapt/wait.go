package adapt

import (
	"context"
	"fmt"
	"time"
)

// An Option says how an adapter asks its pool: see [Wait].
type Option func(*slices)

// Wait has an adapter wait for room, in order with all calls that wait for the pool, for up to that
// long; only then it does what it does without room. The adapter has no context of the call: choose a
// time that a call can spend. Wait panics if most is not positive.
func Wait(most time.Duration) Option {
	if most <= 0 {
		panic(fmt.Sprintf("adapt: Wait of %v: want a positive duration", most))
	}
	return func(s *slices) { s.patience = most }
}

// A wait is a context that is done some time after somebody began to wait for it: a Get with room
// makes no timer. It is for one goroutine.
type wait struct {
	context.Context // has no end
	most            time.Duration
	timed           context.Context // nil until Done
	stop            func()
}

func (w *wait) Done() <-chan struct{} {
	if w.timed == nil {
		w.timed, w.stop = context.WithTimeout(w.Context, w.most)
	}
	return w.timed.Done()
}

func (w *wait) Err() error {
	if w.timed == nil {
		return nil
	}
	return w.timed.Err()
}

// ask returns size bytes of the pool, for which it waits as the options say.
func (s *slices) ask(size int) ([]byte, error) {
	if s.patience == 0 {
		return s.pool.GetBytes(size)
	}
	w := &wait{Context: context.Background(), most: s.patience}
	defer func() {
		if w.stop != nil {
			w.stop()
		}
	}()
	return s.pool.GetBytesContext(w, size)
}
