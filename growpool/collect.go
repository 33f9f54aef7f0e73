package growpool

import (
	"runtime"
	"sync/atomic"

	"github.com/bufslab/bufslab/slab"
)

// fillPatiently is fill that has the collector look for what was forgotten,
// when that is much or where there is no room: memory that Get has shown comes
// back by no other way.
func (b *buffer) fillPatiently(p *slab.Pool) error {
	if v := b.budget.valve; v > 0 && b.budget.forgotten.Load() >= v {
		b.budget.forgotten.Store(0)
		collect()
	}
	err := b.fill(p)
	for range 2 { // what a finalizer brings back may come after ours
		if !outOfMemory(err) || b.budget.forgotten.Load() == 0 {
			return err
		}
		collect()
		err = b.fill(p)
	}
	b.budget.forgotten.Store(0) // whoever has a view has the memory
	return err
}

// collect runs the collector and gives the finalizers that it found due a
// chance. It waits without a channel, and not for ever: a finalizer of
// somebody else may never return.
func collect() {
	var ran atomic.Bool
	runtime.SetFinalizer(new([16]byte), func(*[16]byte) { ran.Store(true) })
	runtime.GC()
	for range 1_000_000 {
		if ran.Load() {
			return
		}
		runtime.Gosched()
	}
}
