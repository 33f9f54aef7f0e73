// Package gcwatch tells when the garbage collector has run, and runs it for
// callers that wait for what it finds.
package gcwatch

import (
	"runtime"
	"runtime/metrics"
	"time"
	"weak"
)

// A sentinel is an object that nothing reaches, so every collection queues its
// finalizer. The runtime has no other way to tell of a collection.
type sentinel struct{ _ [16]byte }

// Notify calls f(owner) after each garbage collection, until f returns false or
// nothing but Notify reaches owner. f runs on the goroutine of finalizers, which
// the whole process shares: work that may block belongs on a goroutine of its own.
func Notify[T any](owner *T, f func(owner *T) (more bool)) {
	w := weak.Make(owner)
	var collected func(*sentinel)
	collected = func(s *sentinel) {
		if o := w.Value(); o != nil && f(o) {
			runtime.SetFinalizer(s, collected)
		}
	}
	runtime.SetFinalizer(new(sentinel), collected)
}

// Collect runs the garbage collector and waits for the finalizers that it queued. A
// finalizer that never returns cannot hold it for ever. progress counts what the caller's
// finalizers have done: before Go 1.26 the runtime does not tell how many are due, and
// Collect waits until progress has stood still for a while.
func Collect(progress func() int64) { CollectThen(func() {}, progress) }

// CollectThen is Collect that calls collected before it waits for finalizers.
func CollectThen(collected func(), progress func() int64) {
	func() {
		defer collected()
		runtime.GC() // which ends with all finalizers queued
	}()
	if due, ok := counter("/gc/finalizers/queued:finalizers"); ok {
		waitFor(due)
		return
	}
	for last := progress(); yieldUntil(func() bool { return progress() != last }, quiet); last = progress() {
	}
}

const (
	atMost = 100 * time.Millisecond // for finalizers to run
	quiet  = 50 * time.Millisecond  // without progress that counts as the end: ten slices of a busy machine

	spin = time.Millisecond // then a waiter gives up its thread, which others may need

	mostTurns = 1 << 18 // while the clock stands still: longer than the tick of any clock
)

// waitFor waits until due finalizers have run since the process began, and reports whether they have.
func waitFor(due uint64) bool { return yieldUntil(func() bool { return ran() >= due }, atMost) }

func ran() uint64 {
	n, _ := counter("/gc/finalizers/executed:finalizers")
	return n
}

// Live returns the bytes of the Go heap that the last collection has found reachable.
func Live() int64 {
	n, _ := counter("/gc/heap/live:bytes")
	return int64(n)
}

// counter returns a number of the runtime, if it has it.
func counter(name string) (uint64, bool) {
	s := []metrics.Sample{{Name: name}}
	if metrics.Read(s); s[0].Value.Kind() != metrics.KindUint64 {
		return 0, false
	}
	return s[0].Value.Uint64(), true
}

// yieldUntil yields the processor until done or for d, and reports which. In a bubble of
// testing/synctest the clock stands still while it runs: there it counts its turns.
func yieldUntil(done func() bool, d time.Duration) bool {
	start := time.Now()
	for turns := 0; !done(); turns++ {
		passed := time.Since(start)
		if passed > d || passed == 0 && turns > mostTurns {
			return false
		}
		if passed > spin {
			time.Sleep(spin / 10)
			continue
		}
		runtime.Gosched()
	}
	return true
}
