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
