package pageheap

import (
	"math"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// While one block comes and goes, a trim gives the other memory back after idle epochs, though
// both are one extent when the block is free. The block's own memory stays: no call upstream.
func TestTrimBesideALoad(t *testing.T) {
	const n = 64 * page
	up := &pages{RangeBytes: 64 << 20}
	p := start(up, Options{})
	p.freeAll(fill(t, p, 10*64))
	for epoch := 1; epoch <= 6; epoch++ {
		p.free(p.mustAlloc(t, n))
		before := p.managed
		went := p.Trim(3)
		if went != before-p.managed {
			t.Errorf("epoch %d: %d bytes went, it says, of %d, and %d are left", epoch, went, before, p.managed)
		}
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

// A trim looks at the free extents that can go, and not at what is shorter than a page, or in a segment, between blocks
// in use: a heap has thousands of these.
func TestTrimLooksAtWhatMayGo(t *testing.T) {
	for name, up := range map[string]device.Allocator{"a range": &pages{RangeBytes: 64 << 20}, "segments": &source{}} {
		p := start(up, Options{})
		var out []device.Block
		for range 1000 {
			out = append(out, p.mustAlloc(t, page/2))
		}
		p.Trim(0) // the head-room
		for i := 0; i < len(out); i += 2 {
			p.free(out[i])
		}
		if n, all := len(p.idleExtents(0)), p.index[free].count; n > 1 || all < 500 {
			t.Errorf("%s: it looks at %d of %d", name, n, all)
		}
		for i := 401; i < 410; i += 2 { // whole pages are free now
			p.free(out[i])
			out[i] = device.Block{}
		}
		if n := p.Trim(0); name == "a range" && n < 4*page || name == "segments" && n != 0 {
			t.Errorf("%s: %d bytes went", name, n)
		}
		for i := 1; i < len(out); i += 2 {
			if out[i] != (device.Block{}) {
				p.free(out[i])
			}
		}
		if p.Trim(0); p.managed != 0 {
			t.Errorf("%s: %d bytes are left", name, p.managed)
		}
	}
}

// Of a range without blocks in use as much goes as was asked for, in whole pages, and not all of it.
func TestShrinkOfAnUnusedRange(t *testing.T) {
	p := start(&pages{RangeBytes: 64 << 20}, Options{})
	p.freeAll(fill(t, p, 640))
	p.Trim(1) // the head-room
	for _, c := range []struct{ bytes, left int64 }{{1, 639}, {page, 638}, {100*page - 1, 538}, {math.MaxInt64, 0}} {
		if p.Shrink(c.bytes); p.managed != c.left*page {
			t.Errorf("Shrink(%d): %d bytes are left, want %d pages", c.bytes, p.managed, c.left)
		}
	}
}

// A range of which exactly all is wanted is closed.
func TestShrinkByAllOfARange(t *testing.T) {
	up := &pages{RangeBytes: 64 << 20}
	p := start(up, Options{})
	p.free(p.mustAlloc(t, 100*page))
	if p.Shrink(p.managed); up.Open != 0 || p.managed != 0 {
		t.Errorf("%d ranges are open, with %d bytes", up.Open, p.managed)
	}
}

// Segments go whole, the longest free and of these the largest first; one of more than twice what is wanted stays, unless
// nothing else goes.
func TestShrinkOfSegments(t *testing.T) {
	for _, c := range []struct {
		n    int64
		old  bool // the small one has been free for longer
		left int64
	}{
		{0, false, 9 * mib},
		{8 * mib, false, mib},
		{8*mib + 1, false, mib},
		{8*mib + mib/2, false, 0},
		{4 * mib, false, mib},
		{4*mib - 1, false, 8 * mib},
		{mib / 2, false, 8 * mib},
		{mib/2 - 1, false, mib},
		{mib, true, 8 * mib},
		{4 * mib, true, 8 * mib},
		{5 * mib, true, 0},
		{math.MaxInt64, false, 0},
	} {
		up := &source{}
		p := start(up, Options{})
		large, small := p.mustAlloc(t, 8*mib), p.mustAlloc(t, mib)
		if c.old {
			p.free(small)
			p.epoch++
			p.free(large)
		} else {
			p.free(large)
			p.free(small)
		}
		if p.Shrink(c.n); p.managed != c.left {
			t.Errorf("%+v: %d bytes are left", c, p.managed)
		}
		p.mustCheck(t, up)
	}
}

// Of a range whole pages may go, and of a segment that is in use nothing.
func TestWhatMayGo(t *testing.T) {
	for _, c := range []struct {
		segments  bool
		off, size int
		want      bool
	}{
		{false, 1024, 6 * 1024, false}, {false, 1024, 7 * 1024, true}, {false, 0, page, true}, {false, 16, page - 16, false},
		{true, 16, 3 * page, false},
	} {
		p := start(on(&pages{}, c.segments), Options{})
		if err := p.Prefill(4 * page); err != nil {
			t.Fatal(err)
		}
		if c.off > 0 {
			p.mustAlloc(t, c.off)
		}
		b := p.mustAlloc(t, c.size)
		i, _ := p.Locate(b, 0)
		p.mustAlloc(t, int(p.Counts().FreeBytes))
		p.free(b)
		if p.mayGo(i) != c.want {
			t.Errorf("%+v: %t", c, !c.want)
		}
	}
}

// Wholly free segments go until as much has gone as was asked for.
func TestAsManySegmentsGoAsAreNeeded(t *testing.T) {
	for n, want := range map[int64]int64{0: 0, 1: 1, mib: 1, mib + 1: 2, 100 * mib: 4} {
		up := &source{}
		p := start(up, Options{})
		p.freeAll(fillEqual(t, p, 4, mib))
		if got := p.releaseSegments(n); got != want*mib || up.Bytes != (4-want)*mib {
			t.Errorf("%d bytes wanted: %d went, %d are left", n, got, up.Bytes)
		}
	}
}

// Of what is held beyond the bound the block goes that was freed last, if that is enough; then the largest extent. Up to
// the bound nothing goes.
func TestWhatIsOverHeldGoes(t *testing.T) {
	for _, c := range []struct{ bound, want int }{{19, 19}, {18, 18}, {17, 0}} { // pages of 20
		up := &pages{}
		p := start(up, Options{MaxHeld: int64(c.bound * page)})
		if err := p.Prefill(20 * page); err != nil {
			t.Fatal(err)
		}
		b := p.mustAlloc(t, page)
		p.mustAlloc(t, page)
		p.free(b)
		if p.ReleaseOverHeld(); p.index[free].bytes != int64(c.want*page) {
			t.Errorf("%+v: %d bytes are held", c, p.index[free].bytes)
		}
		p.mustCheck(t, &up.Source)
	}
	p := start(&pages{}, Options{MaxHeld: 2 * page})
	if err := p.Prefill(3 * page); err != nil {
		t.Fatal(err)
	}
	if p.ReleaseOverHeld(); p.index[free].bytes != 0 {
		t.Errorf("%d bytes of a heap that nothing was freed to are held", p.index[free].bytes)
	}
}

// What is beyond the peak of use goes, if it is worth a call: of several extents of a range so much.
func TestWhatIsSpareGoes(t *testing.T) {
	for spare, want := range map[int]int{15: 0, 16: 16, 24: 24, 40: 40, 48: 48} { // pages, of three times 16
		p, up, _ := holed(t, 3, leastSpare, 0)
		p.window.most = p.managed - int64(spare*page)
		before := p.managed
		if n := p.Trim(1); n != int64(want*page) || p.managed != before-n {
			t.Errorf("%d pages are spare: %d bytes went of %d, and %d are left", spare, n, before, p.managed)
		}
		p.mustCheck(t, &up.Source)
	}
	p := start(new(source), Options{})
	p.free(p.mustAlloc(t, mib))
	p.window.most = 0
	if n := p.Trim(1); n != 0 {
		t.Errorf("%d bytes of a segment went before it was free for an epoch", n)
	}
}

// Shrink looks at the next segment if the first cannot go, and at none if nothing is free.
func TestShrinkWhereTheLargestIsInUse(t *testing.T) {
	up := &source{}
	p := start(up, Options{})
	if p.Shrink(100); p.managed != 0 {
		t.Errorf("%d bytes of an empty heap", p.managed)
	}
	if err := p.Prefill(8 * mib); err != nil {
		t.Fatal(err)
	}
	p.mustAlloc(t, page)
	p.free(p.mustAlloc(t, 8*mib-page))
	if err := p.Prefill(4 * mib); err != nil {
		t.Fatal(err)
	}
	if p.Shrink(mib); p.managed != 8*mib {
		t.Errorf("%d bytes are left", p.managed)
	}
	if p.Shrink(mib); p.managed != 8*mib {
		t.Errorf("%d bytes are left, of which nothing could go", p.managed)
	}
	p.mustCheck(t, up)
}
