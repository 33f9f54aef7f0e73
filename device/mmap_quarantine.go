//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris

package device

import (
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/internal/intervals"
)

// A process has some 65,000 mappings, and the Go runtime dies without a free one. A run of
// inaccessible pages between other pages costs two mappings, so there are at most mostRuns
// runs. Pages beyond them stay accessible.
const mostRuns = 8 << 10

// inaccessible counts the runs of all regions.
var inaccessible atomic.Int64

// lostPages are the pages of a region that are never used again.
type lostPages struct {
	mu   sync.Mutex
	runs intervals.Set
}

// shut makes pages inaccessible that were given back, while there are mappings for it. Else a
// late reader finds zeros.
func (r *mmapRegion) shut(m []byte, lo, hi int) {
	if r.lost.add(lo, hi) && r.takeMappings(2) == nil {
		_ = unix.Mprotect(m[lo:hi], unix.PROT_NONE)
	}
}

// add notes pages, unless there are mostRuns runs already.
func (l *lostPages) add(lo, hi int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i, j := l.runs.Touching(lo, hi); i == j && inaccessible.Load() >= mostRuns {
		return false
	}
	before := len(l.runs)
	l.runs.Add(lo, hi)
	inaccessible.Add(int64(len(l.runs) - before))
	return true
}

// unmapped takes the runs of an unmapped region from the count.
func (l *lostPages) unmapped() {
	l.mu.Lock()
	defer l.mu.Unlock()
	inaccessible.Add(-int64(len(l.runs)))
	l.runs = nil
}
