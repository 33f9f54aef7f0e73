package gcwatch

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"
)

// An owner is too large to share its allocation with others.
type owner struct {
	calls atomic.Int64
	_     [24]byte
}

func still() int64 { return 0 }

// f hears of every collection until it says that this is enough.
func TestNotifyUntilFalse(t *testing.T) {
	o := new(owner)
	Notify(o, func(o *owner) bool { return o.calls.Add(1) < 3 })
	for want := int64(1); want <= 3; want++ {
		for o.calls.Load() < want {
			Collect(o.calls.Load)
		}
	}
	for range 3 {
		Collect(o.calls.Load)
	}
	if n := o.calls.Load(); n != 3 {
		t.Errorf("%d calls after the last one", n-3)
	}
}

// Notify keeps nothing alive.
func TestNotifyLetsGo(t *testing.T) {
	w := watched()
	for i := 0; w.Value() != nil; i++ {
		if i == 100 {
			t.Fatal("the owner lives on")
		}
		Collect(still)
	}
}

//go:noinline
func watched() weak.Pointer[owner] {
	o := new(owner)
	Notify(o, func(*owner) bool { return true })
	return weak.Make(o)
}

// Finalizers that are due when Collect is called have run when it returns.
func TestCollectWaitsForFinalizers(t *testing.T) {
	const objects = 1000
	var ran atomic.Int64
	for range objects {
		o := new(owner)
		runtime.SetFinalizer(o, func(*owner) { ran.Add(1) })
	}
	Collect(ran.Load)
	if n := ran.Load(); n < objects-1 { // the last one may still be in a register
		t.Errorf("%d of %d finalizers have run", n, objects)
	}
}

// Collect waits for a finalizer that does not return as long as it waits for any.
func TestCollectWaitsForASlowFinalizer(t *testing.T) {
	end := make(chan struct{})
	defer close(end)
	for range 10 { // the last one may still be in a register
		runtime.SetFinalizer(new(owner), func(*owner) { <-end })
	}
	least := quiet
	if _, ok := counter("/gc/finalizers/queued:finalizers"); ok {
		least = atMost
	}
	start := time.Now()
	Collect(func() int64 { return 0 })
	if waited := time.Since(start); waited < least {
		t.Errorf("it has waited for %v, want %v", waited, least)
	}
}

// What has happened delays Collect no longer, and neither does what happens meanwhile.
func TestWhatHappensIsNotWaitedFor(t *testing.T) {
	Collect(still)
	if !waitFor(ran()) {
		t.Error("it has waited in vain for finalizers that had run")
	}
	synctest.Test(t, func(t *testing.T) { // whose clock stands still
		turns := 0
		if !yieldUntil(func() bool { turns++; return turns > 1000 }, time.Millisecond) || turns != 1001 {
			t.Errorf("gave up after %d turns", turns)
		}
	})
}

// What the runtime does not count, as finalizers before Go 1.26, is told from 0.
func TestCounter(t *testing.T) {
	memory := make([]byte, 16<<20)
	runtime.GC()
	if n, ok := counter("/gc/heap/live:bytes"); !ok || n < 16<<20 || Live() < 16<<20 {
		t.Errorf("%d bytes, %d are live: %v", n, Live(), ok)
	}
	runtime.KeepAlive(memory)
	for _, name := range []string{"/gc/heap/none:bytes", "/gc/heap/allocs-by-size:bytes"} { // a histogram
		if n, ok := counter(name); ok {
			t.Errorf("%s is %d", name, n)
		}
	}
}

// A finalizer that never returns delays Collect, but not for ever.
func TestCollectGivesUp(t *testing.T) {
	if yieldUntil(func() bool { return false }, time.Millisecond) {
		t.Error("what never happens has happened")
	}
}

// A clock that stands still delays Collect, but not for ever.
func TestCollectGivesUpWithoutAClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if yieldUntil(func() bool { return false }, time.Millisecond) {
			t.Error("what never happens has happened")
		}
	})
}
