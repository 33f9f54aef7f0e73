package pageheap

import "testing"

// While one block comes and goes, a trim gives the other memory back after idle epochs, though
// both are one extent when the block is free. The block's own memory stays: no call upstream.
func TestTrimBesideALoad(t *testing.T) {
	const n = 64 * page
	up := &pages{RangeBytes: 64 << 20}
	p := start(up, Options{})
	p.freeAll(fill(t, p, 10*64))
	for epoch := 1; epoch <= 6; epoch++ {
		p.free(p.mustAlloc(t, n))
		went := p.Trim(3)
		p.mustCheck(t, &up.Source)
		switch had := epoch == 3; { // in the first three all was in use
		case !had && epoch < 6 && went != 0:
			t.Errorf("epoch %d: %d bytes went", epoch, went)
		case epoch == 6 && p.managed != n:
			t.Errorf("%d bytes are managed, want %d", p.managed, n)
		}
	}
	calls := up.Calls
	if p.free(p.mustAlloc(t, n)); up.Calls != calls {
		t.Errorf("%d calls upstream for what is used all the time", up.Calls-calls)
	}
	if p.Trim(0); up.Bytes != 0 {
		t.Errorf("%d bytes are left", up.Bytes)
	}
}

// What was in use at any time of the last epochs stays, and so do scraps.
func TestWhatWasInUseIsNotSpare(t *testing.T) {
	up := &pages{RangeBytes: 64 << 20}
	p := start(up, Options{})
	p.freeAll(fill(t, p, 100))
	if p.Trim(1); p.managed != 100*page { // the head-room is gone
		t.Errorf("%d bytes are managed, want %d", p.managed, 100*page)
	}
	for epoch := range 10 {
		p.freeAll(fill(t, p, []int{1, 100 - leastSpare/page + 1}[epoch%2]))
		if n := p.Trim(2); n != 0 {
			t.Errorf("epoch %d: %d bytes went", epoch, n)
		}
	}
	p.mustCheck(t, &up.Source)
}

func TestWindow(t *testing.T) {
	w := window{most: 10}
	for i, c := range []struct {
		idle       int
		used, most int64
		ended      bool
	}{{2, 3, 0, false}, {2, 4, 10, true}, {1, 5, 4, true}, {3, 0, 0, false}, {2, 7, 5, true}, {0, 1, 7, true}} {
		if most, ended := w.end(c.idle, c.used); most != c.most || ended != c.ended {
			t.Errorf("%d: %d, %v", i, most, ended)
		}
	}
	if w != (window{most: 1}) {
		t.Errorf("%+v", w)
	}
}
