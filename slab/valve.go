package slab

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// A valve runs the collector when memory that it does not see, but whose
// handles it does, has grown by limit bytes without being released, or by half
// if that is more: forgotten buffers off the heap do not drive it themselves.
//
// Memory may grow and be released in turns, too. A collection that finds little
// of the growth forgotten lets the next one wait until there is twice as much.
type valve struct {
	limit   int64
	out     atomic.Int64 // bytes of blocks that have a token
	base    atomic.Int64 // of out, after the last collection or since, if less
	patient atomic.Int64 // growth that is known to be none of the forgotten

	running sync.Mutex
	grown   int64 // what the last collection was for; 0 once it is judged
	known   int64 // bytes forgotten before it
	after   int64 // out, after it
}

func (v *valve) check(k *core) {
	if v.limit <= 0 || v.excess() == 0 {
		return
	}
	v.running.Lock()
	defer v.running.Unlock()
	v.judge(k)
	grown := v.excess()
	if grown == 0 {
		return // somebody else's collection was enough, or there is no hurry
	}
	v.grown, v.known = grown, k.forgottenBytes()
	runtime.GC()
	k.awaitForgotten()
	v.after = v.out.Load()
	v.base.Store(v.after)
}

// judge learns from the last collection, when there would be another one: on a
// busy machine finalizers take their time. Little was forgotten if little was
// found, and memory came back otherwise.
func (v *valve) judge(k *core) {
	found, released := k.forgottenBytes()-v.known, v.after-v.base.Load()
	switch {
	case v.grown == 0:
	case found >= v.grown/4:
		v.patient.Store(0)
	case released > 2*found:
		v.patient.Store(2 * v.grown)
	}
	v.grown = 0
}

// excess returns the bytes that out has grown by, or 0 if that is no matter.
func (v *valve) excess() int64 {
	out, base := v.out.Load(), v.base.Load()
	if out < base {
		v.base.Store(out)
	}
	if grown := out - base; grown > max(v.limit, base/2, v.patient.Load()) {
		return grown
	}
	return 0
}

func (k *core) forgottenBytes() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.forgotten.bytes
}

// awaitForgotten lets finalizers that the collector found due run first. How
// many there are nobody tells, so it goes on once none has run for a while: a
// fraction of what the collection has taken.
func (k *core) awaitForgotten() {
	const while = 1000
	for last, still := int64(-1), 0; still < while; still++ {
		if n := k.forgottenBytes(); n != last {
			last, still = n, 0
		}
		runtime.Gosched()
	}
}
