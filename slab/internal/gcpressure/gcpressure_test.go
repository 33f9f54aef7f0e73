package gcpressure

import "testing"

// Others release memory while a collection runs. It does not make the next one come
// earlier: that would be at once, for memory that is handed over in large batches.
func TestPressureCountsWhatWasInUse(t *testing.T) {
	tracked, found := int64(65), int64(0)
	g := Pressure{limit: 64, tracked: func() int64 { return tracked }}
	calls := 0
	g.found = func() int64 {
		if calls++; calls > 1 { // the collector runs
			tracked, found = 1, 5
		}
		return found
	}
	g.Relieve()
	g.Collected() // of the same collection
	if g.base.Load() != 60 {
		t.Errorf("%d bytes were in use, not 60", g.base.Load())
	}
	if tracked = 184; g.exceeded() {
		t.Error("184 exceed twice 60 and 64")
	}
	g.Collected() // of another one, whose finalizers have not run
	if g.base.Load() != 60 {
		t.Errorf("%d bytes were in use, not 60", g.base.Load())
	}
	tracked = 10
	if g.Collected(); g.base.Load() != 10 {
		t.Errorf("%d bytes were in use, not 10", g.base.Load())
	}
}
