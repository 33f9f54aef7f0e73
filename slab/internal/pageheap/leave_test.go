package pageheap

import (
	"errors"
	"testing"
)

// What an upstream does not take back is free again, and managed: it serves, and goes
// back when it can.
func TestMemoryThatCannotGoBackStays(t *testing.T) {
	for _, c := range []Options{{}, {MaxHeld: -1}} {
		up := &pages{RangeBytes: 64 * page}
		p := start(up, c)
		live := fill(t, p, 100) // of two ranges
		had := up.Bytes
		up.Fail = errors.New("busy")
		p.freeAll(live[3:7])
		p.free(live[9])
		p.freeAll(live[60:])
		if p.FreeHeld(); p.Trim(0) != 0 || up.Bytes != had || p.index[free].bytes < 45*page {
			t.Errorf("%d bytes upstream after %d, %d free", up.Bytes, had, p.index[free].bytes)
		}
		p.mustCheck(t, &up.Source)
		calls := up.Calls
		if p.mustAlloc(t, 4*page); up.Calls != calls {
			t.Error("four pages came from upstream, not from those that are free")
		}
		up.Fail = nil
		p.FreeHeld()
		p.mustCheck(t, &up.Source)
		if p.index[free].bytes != 0 || up.Bytes != 59*page {
			t.Errorf("%d bytes upstream, %d free", up.Bytes, p.index[free].bytes)
		}
	}
}

// Between a look at what is free and the moment when it leaves, somebody may have got it.
func TestWhatWasTakenMeanwhileStays(t *testing.T) {
	up := &pages{RangeBytes: 64 * page}
	p := start(up, Options{})
	live := fill(t, p, 3)
	i := p.search(live[2])
	p.free(live[2])
	live[2] = p.mustAlloc(t, page)
	if p.search(live[2]) != i {
		t.Fatal("another extent serves")
	}
	if n := p.release(i); n != 0 {
		t.Errorf("%d bytes of a block that is out went upstream", n)
	}
	p.mustCheck(t, &up.Source)
}
