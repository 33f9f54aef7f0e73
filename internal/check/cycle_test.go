package check

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// When Cycle returns, the finalizers of what was let go of have run.
func TestCycleWaitsForFinalizers(t *testing.T) {
	const objects = 100
	var ran atomic.Int64
	for range objects {
		runtime.SetFinalizer(new([64]byte), func(*[64]byte) { ran.Add(1) })
	}
	if !Cycle() {
		t.Fatal("no finalizer ran")
	}
	if n := ran.Load(); n < objects-1 { // the last one may still be on the stack
		t.Errorf("%d of %d finalizers ran", n, objects)
	}
}
