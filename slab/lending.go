package slab

import (
	"sync"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/guard"
	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/percpu"
	"github.com/bufslab/bufslab/slab/internal/watch"
)

// A lending is the part of a pool that knows which buffers the program has, and who may have a cached block next: the
// caches, the slots, what is noted of each owner, and the counts. Its methods know no strategy and no budget.
//
// mu guards the table, what the cache counts under it, and the extents of a page heap, so that a Get that no cache
// serves takes one lock: see atHand and freeLocked. Pinned goroutines touch their class caches, and a reclaim that
// has waited for them. leaks and profile have locks of their own; the peak has none. No method of a lending keeps mu
// locked.
type lending struct {
	config *settings

	direct int // bytes up to which Get has no more to do than a hit; 0 is none
	cache  percpu.Cache
	mu     sync.Mutex
	table  handle.Table

	leaks   watch.Log
	profile watch.Sampler
	peak    activePeak
}

// isSimple reports whether Release of a block of the class only has to cache it.
func (l *lending) isSimple(class int) bool { return class < l.cache.Uncached() && !l.leaks.SeesAll() }

// ask returns the bytes to ask the strategy for, for a Get of size bytes of the class: if the block may be cached
// later, those of the whole class.
func (l *lending) ask(size, class int) int {
	if class < l.cache.Uncached() {
		_, size = l.cache.Fit(size)
	}
	return size
}

// attach gives a block a slot, and counts the Get, as countGet does; see Table.Attach. A block of a Guard is never
// cached.
func (l *lending) attach(b device.Block, extent int32, class, size int, calls int64) (e handle.Entry, stands float64) {
	if extent == guard.Extent {
		class = l.cache.Uncached()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.table.Attach(b, extent, class, l.isSimple(class))
	if ok {
		stands = l.countGet(size, calls)
		l.cache.Missed(class)
	}
	return e, stands
}

// lengthen gives the block of a slot, longer now, a slot of the class; see Table.Lengthen.
func (l *lending) lengthen(s *handle.Slot, n, class int) *handle.Slot {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.table.Lengthen(s, n, class, l.isSimple(class))
}

// detach takes a block from its slot; see Table.Detach.
func (l *lending) detach(s *handle.Slot) (device.Block, int32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.table.Detach(s)
}

// countGet counts a Get of size bytes. If it is a miss there were that many calls upstream when it had its memory, else
// calls is 0. It returns the number of Gets that this one counts for in the profile, 0 if it is not sampled. The caller
// holds mu.
func (l *lending) countGet(size int, calls int64) (stands float64) {
	if calls > 0 {
		return l.cache.CountMiss(size, calls)
	}
	return l.cache.CountGet(size)
}

// countHit counts a Get that neither a cache nor the strategy has served.
func (l *lending) countHit(size int) (stands float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cache.CountGet(size)
}

// countGrow counts a Grow in place, as a Release of n bytes and a Get.
func (l *lending) countGrow(n, size int, calls int64) (stands float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cache.CountRelease(n)
	return l.countGet(size, calls)
}

// countRelease counts a Release of n bytes whose block does not go to the strategy now.
func (l *lending) countRelease(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cache.CountRelease(n)
}

// calls returns the Gets and Releases so far.
func (l *lending) calls() int64 {
	n := l.cache.Served()
	return n.Gets() + n.Releases
}

// notePeak notes a Get of size bytes that passed the caches.
func (l *lending) notePeak(size int) {
	if l.peak.left.Add(-int64(size)) < 0 {
		l.peak.look(l.activeBytes(), size)
	}
}

// askPeak returns the active bytes with size more, before a Get of many bytes goes upstream, and 0 for others: to get
// such memory takes so long that others release meanwhile, but theirs was out when this was wanted.
func (l *lending) askPeak(size int) int64 {
	if int64(size) < l.peak.enough {
		return 0
	}
	return l.activeBytes() + int64(size)
}

// resetPeak begins the peak anew, at the active bytes of now.
func (l *lending) resetPeak() { l.peak.reset(max(0, l.activeBytes())) }

// nextPeak returns the most active bytes since it was called last.
func (l *lending) nextPeak() int64 { return l.peak.next(max(0, l.activeBytes())) }

func (l *lending) activeBytes() int64 { return l.cache.OutBytes() - l.leaks.ForgottenBytes() }
