package base

import "sync/atomic"

// A Life says how long a region has memory: until it is freed and no call uses it any
// more. What drivers hand out are addresses, and one that is gone takes the process with it.
// It is safe for concurrent use, and begins with Begin.
type Life struct {
	freed atomic.Bool
	uses  atomic.Int32 // calls under way, and one until it is freed
}

// Begin makes the region one that is out.
func (l *Life) Begin() { l.uses.Store(1) }

// Hold keeps the memory until Drop. It reports false where the region is freed.
func (l *Life) Hold() bool {
	for n := l.uses.Load(); n > 0 && !l.freed.Load(); n = l.uses.Load() {
		if l.uses.CompareAndSwap(n, n+1) {
			return true
		}
	}
	return false
}

// Drop undoes Hold, and after End what Begin has kept. It reports true where that was the
// last, and the memory has to go.
func (l *Life) Drop() (last bool) { return l.uses.Add(-1) == 0 }

// End frees the region, for no call from now on. It reports false where that was done
// before.
func (l *Life) End() bool { return !l.freed.Swap(true) }

// Freed reports whether End was called.
func (l *Life) Freed() bool { return l.freed.Load() }

// Uses returns how many calls hold the memory, and one more until it is freed.
func (l *Life) Uses() int { return int(l.uses.Load()) }
