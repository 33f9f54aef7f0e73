package floor

import "sync"

// A Lookout decides when a collection is to look at a pool of the Go heap without its caches. A cached block keeps the
// memory around it alive, and so what was forgotten there: in a pool that is in use the collector may never find it.
//
// The pool does not know which buffers are forgotten, but they are part of the floor. So is what a program holds for
// good: there a look finds nothing, and the next one waits twice as long, unless the floor is twice as high by then.
// The zero Lookout is ready.
type Lookout struct {
	mu   sync.Mutex // leaf
	row  floor
	base int64 // the floor after the last look
	rows int   // that have ended since
	wait int   // of them, beside leastRows, before the next look
}

const (
	leastRows = 2
	worth     = 8 // what a look has to find to be worth it, as a divisor of the floor
	mostRows  = 1 << 30
)

// Collected hears of a collection, after which out bytes are active. It returns how many have been out for long,
// and whether it is time to look.
func (l *Lookout) Collected(out int64) (old int64, due bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old, ended := l.row.collected(out)
	if !ended {
		return 0, false
	}
	l.rows++
	return old, l.rows >= l.wait+leastRows || l.rows >= leastRows && old > 2*l.base
}

// Looked says that a look has found that many of the old bytes forgotten.
func (l *Lookout) Looked(old, found int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows, l.base = 0, max(0, old-found)
	if found >= old/worth {
		l.wait = 0
	} else {
		l.wait = min(2*l.wait+leastRows, mostRows)
	}
}
