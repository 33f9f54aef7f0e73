package check

import (
	"runtime"
	"time"
)

// Cycle runs the collector and waits until the finalizers that it found due have run: a later one,
// queued behind them, tells. A word that is left on some stack may hide that one's object from a
// collection, and the runtime's own come two minutes apart. So Cycle collects again each second, and
// reports false after half a minute.
func Cycle() (ran bool) {
	last := make(chan struct{})
	runtime.SetFinalizer(new([16]byte), func(*[16]byte) { close(last) })
	for range 30 {
		runtime.GC()
		select {
		case <-last:
			return true
		case <-time.After(time.Second):
		}
	}
	return false
}
