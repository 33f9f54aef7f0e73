package inspect

import "time"

// Pools are asked by requests only. A look costs them something: Leaks and Fragmentation hold
// a lock while they list what there is. So all requests within a while share a look, and the
// next one is the later the longer the last one took.

const (
	apart = 500 * time.Millisecond // looks; half of what the page waits
	share = 10                     // of the time, a look takes one part at most
	kept  = 5 * time.Minute        // of history
)

// A look is what was seen of all pools at a moment. It does not change.
type look struct {
	states []State
	views  []view
	until  time.Time // when to look again
}

// A sample is what the sparklines need of a look.
type sample struct {
	at                            time.Time
	active, managed, hits, misses int64
}

// look returns the last look, or a new one if it is time.
func (h *handler) look() look {
	h.mu.Lock()
	defer h.mu.Unlock()
	if now := time.Now(); !now.Before(h.last.until) {
		h.last = h.lookAt(now)
		h.last.until = now.Add(max(apart, share*time.Since(now)))
	}
	return h.last
}

// lookAt asks all pools, and remembers. The caller holds mu.
func (h *handler) lookAt(now time.Time) look {
	l := look{states: []State{}}
	for i, p := range h.pools {
		s := stateOf(h.names[i], p)
		h.remember(i, sample{now, s.Stats.ActiveBytes, s.Stats.ManagedBytes, s.Stats.Hits, s.Stats.Misses})
		l.states = append(l.states, s)
		l.views = append(l.views, viewOf(i, s, p, h.history[i]))
	}
	return l
}

// remember adds a sample and drops what is too old. The caller holds mu.
func (h *handler) remember(i int, s sample) {
	old := 0
	for old < len(h.history[i]) && s.at.Sub(h.history[i][old].at) > kept {
		old++
	}
	h.history[i] = append(h.history[i][old:], s)
}
