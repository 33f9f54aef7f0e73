package slab

import (
	"errors"
	"testing"
)

// A pool has an upstream, and so has a Limit.
func TestNothingStandsOnNoUpstream(t *testing.T) {
	if p, err := Open(nil, Config{}); p != nil || !errors.Is(err, ErrUpstream) {
		t.Errorf("%v, %v", p, err)
	}
	wantPanic(t, "slab: a Limit has no upstream", func() { NewLimit(nil, 1) })
}

// A nil or zero Pool has nothing to give: what can says so by an error, and the rest panics.
func TestAPoolThatOpenDidNotReturn(t *testing.T) {
	for _, p := range []*Pool{nil, {}} {
		_, err := p.Get(1)
		_, zeroed := p.GetZeroed(1)
		_, on := p.GetOn(1, &queue{})
		for _, err := range []error{err, zeroed, on, p.Close(), p.Close()} {
			if !errors.Is(err, ErrClosed) || err.Error() != "slab: a Pool that Open did not return: slab: pool closed" {
				t.Error(err)
			}
		}
		for _, f := range []func(){
			p.FreeHeld, p.StopHolding, func() { p.Trim(0) }, func() { p.Stats() }, func() { p.Leaks() }, func() { p.Explain() },
			p.ResetPeaks, func() { p.Fragmentation() }, func() { p.Name() }, func() { p.Metrics() }, func() { p.Closed() },
		} {
			wantPanic(t, "slab: a Pool that Open did not return", f)
		}
	}
}

// With of no function leaves the buffer as it was.
func TestWithOfNoFunction(t *testing.T) {
	b := mustGet(t, openPool(t, "heap", Config{}), 10)
	wantPanic(t, "slab: With has no function to call", func() { b.With(nil) })
	mustRelease(t, b)
}
