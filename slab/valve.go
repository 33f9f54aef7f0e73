package slab

import (
	"runtime"
	"sync/atomic"
)

// A valve runs the collector when memory that it does not see, but whose
// handles it does, has grown by limit bytes without being released, or by half
// if that is more: forgotten buffers off the heap do not drive it themselves.
type valve struct {
	limit int64
	out   atomic.Int64 // bytes of blocks that have a token
	base  atomic.Int64 // of out, after the last collection or since, if less
}

func (v *valve) check(k *core) {
	if v.limit <= 0 {
		return
	}
	out, base := v.out.Load(), v.base.Load()
	if out < base {
		v.base.Store(out)
	}
	if out-base > max(v.limit, base/2) {
		runtime.GC()
		k.awaitForgotten()
		v.base.Store(v.out.Load())
	}
}

// awaitForgotten lets finalizers that the collector found due run first. How
// many there are nobody tells, so it goes on once none has run for a while: a
// fraction of what the collection has taken.
func (k *core) awaitForgotten() {
	const while = 1000
	for last, still := int64(-1), 0; still < while; still++ {
		k.mu.Lock()
		n := k.forgotten.blocks
		k.mu.Unlock()
		if n != last {
			last, still = n, 0
		}
		runtime.Gosched()
	}
}
