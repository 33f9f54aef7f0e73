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

// A segment is free again, and counted as before, if the upstream panics when it comes back.
func TestASegmentStaysAfterAPanic(t *testing.T) {
	up := &source{Round: mib}
	p := start(up, Options{})
	b := p.mustAlloc(t, 100)
	p.free(b)
	before := p.Counts()
	up.Before = func(string) error { panic("told to") }
	func() {
		defer func() { _ = recover() }()
		p.FreeHeld()
		t.Error("no panic")
	}()
	if now := p.Counts(); now != before || now.ExcessBytes == 0 {
		t.Errorf("%+v, before the panic %+v", now, before)
	}
	up.Before = nil
	p.mustCheck(t, up)
	if p.FreeHeld(); up.Bytes != 0 {
		t.Errorf("%d bytes are left", up.Bytes)
	}
}

// While memory is on its way upstream nothing of it is free.
func TestLeavingMemoryIsNotFree(t *testing.T) {
	for name, up := range map[string]*pages{"a range": {}, "pages": {}, "a segment": {Ranges: -1}} {
		p := start(up, Options{})
		if err := p.Prefill(10 * page); err != nil {
			t.Fatal(err)
		}
		b := p.mustAlloc(t, page)
		if name != "pages" {
			p.free(b)
		}
		calls := 0
		up.Before = func(string) error {
			calls++
			if c := p.Counts(); c.FreeBytes != 0 || p.AllocFree(16) != none {
				t.Errorf("%s: %d bytes are free", name, c.FreeBytes)
			}
			return nil
		}
		if p.FreeHeld(); calls != 1 {
			t.Errorf("%s: %d calls", name, calls)
		}
		p.mustCheck(t, &up.Source)
	}
}
