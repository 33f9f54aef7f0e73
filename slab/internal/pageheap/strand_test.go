package pageheap

import (
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// stranded returns the bytes in quarantine on pages that nobody uses and that have not gone. What
// has gone is no longer in isolated.
func (h *Heap) stranded() (bytes int64) {
	bytes = h.isolated
	for s := range h.segs {
		lost, taken := map[int]int{}, map[int]bool{}
		for i := h.segs[s].end; i != none; i = h.at(i).prev {
			x := h.at(i)
			for off := x.off; off < x.off+x.len; off += h.align {
				p := off / h.pageOf(int32(s))
				taken[p] = taken[p] || x.state == used
				if x.state == quarantined {
					lost[p] += h.align
				}
			}
		}
		for p, n := range lost {
			if taken[p] {
				bytes -= int64(n) // it has to stay
			}
		}
	}
	return bytes
}

// After FreeHeld no page is left that has no used extent but some that are in quarantine, in
// whatever order blocks of whatever sizes went there and were freed. Once the last is gone
// nothing is.
func TestNoPageIsStranded(t *testing.T) {
	for name, segments := range map[string]bool{"range": false, "segments": true} {
		for seed := range uint64(20) {
			up := &pages{RangeBytes: 8 << 20}
			p := start(on(up, segments), Options{Align: 64})
			r := rand.New(rand.NewPCG(seed, 14))
			var live []device.Block
			for step := range 400 {
				live = append(live, p.mustAlloc(t, 1+r.IntN(page<<r.IntN(4))>>r.IntN(3)))
				if r.IntN(3) == 0 {
					p.giveUpBlock(takeAt(&live, r.IntN(len(live))))
				}
				for r.IntN(3) == 0 && len(live) > 0 {
					p.free(takeAt(&live, r.IntN(len(live))))
				}
				if step%20 == 19 {
					p.FreeHeld()
					if n := p.stranded(); n != 0 {
						t.Fatalf("%s, %d: %d bytes are stranded after %d steps", name, seed, n, step)
					}
				}
				p.mustCheck(t, &up.Source)
			}
			p.freeAll(live)
			if p.FreeHeld(); up.Bytes != 0 || p.isolated != 0 {
				t.Errorf("%s, %d: %d bytes are left, %d in quarantine", name, seed, up.Bytes, p.isolated)
			}
		}
	}
}

// What several have freed by the time that one looks goes back all the same.
func TestNothingFreedTogetherIsStranded(t *testing.T) {
	up := &pages{}
	p := start(up, Options{MaxHeld: -1})
	p.mustAlloc(t, 64)
	most := p.mustAlloc(t, 3008)
	p.mustAlloc(t, page-64-3008)
	var freed []device.Block
	for range 4 {
		lost, b := p.mustAlloc(t, page/2), p.mustAlloc(t, page/2)
		p.giveUpBlock(lost)
		freed = append(freed, b)
	}
	p.free(most) // the longest free extent, which cannot go
	for _, b := range freed {
		p.freeLocked(b)
	}
	if p.ReleaseOverHeld(); up.Bytes != page {
		t.Errorf("%d bytes are left", up.Bytes)
	}
	p.mustCheck(t, &up.Source)
}

// In a heap that holds nothing what is lost last takes all that is free beside it along.
func TestQuarantineAfterStopHolding(t *testing.T) {
	up := &pages{}
	p := start(on(up, true), Options{})
	lost, b := p.mustAlloc(t, 10*page+100), p.mustAlloc(t, page)
	p.StopHolding()
	p.free(b)
	if p.giveUpBlock(lost); up.Bytes != 0 {
		t.Errorf("%d bytes are left", up.Bytes)
	}
	p.mustCheck(t, &up.Source)
}

// The last page of a segment goes, though the block needed a part of it only, with all that its
// region has beyond.
func TestTheLastPageGoes(t *testing.T) {
	for _, round := range []int{1, page, 16 * page} {
		up := &pages{Source: source{Round: round}}
		p := start(on(up, true), Options{})
		p.giveUpBlock(p.mustAlloc(t, largeBlock+100))
		p.mustCheck(t, &up.Source)
		if up.Bytes != 0 || p.excess != 0 {
			t.Errorf("%d bytes of regions of %d are left", up.Bytes, round)
		}
	}
	for lost, left := range map[int]int64{4 * page: 0, page / 2: 16 * page} { // beside one that shares its page
		up := &source{Round: 16 * page}
		p := start(up, Options{})
		if err := p.Prefill(4 * page); err != nil {
			t.Fatal(err)
		}
		if lost < 4*page {
			p.mustAlloc(t, 4*page-lost)
		}
		p.giveUpBlock(p.mustAlloc(t, lost))
		if p.mustCheck(t, up); up.Bytes != left {
			t.Errorf("the last %d bytes are lost: %d are left", lost, up.Bytes)
		}
	}
}

// Free memory with whole pages keeps its length beside quarantine: the next block of that size
// needs it.
func TestQuarantineLeavesWhatIsOfUse(t *testing.T) {
	up := &pages{}
	p := start(on(up, true), Options{})
	b := p.mustAlloc(t, 10*page+100)
	i, _ := p.Locate(b, 0)
	n := p.freeLen(p.at(i).next)
	p.giveUpBlock(b)
	if got := p.at(p.largest(free)).len; n < 10*page || got != n {
		t.Errorf("%d bytes were free, %d are", n, got)
	}
	p.mustCheck(t, &up.Source)
}

// What cannot be given up costs no free memory beside it.
func TestWhatCannotBeLostStaysFree(t *testing.T) {
	up := &bare{}
	p := start(up, Options{})
	lost, b := p.mustAlloc(t, 100), p.mustAlloc(t, 100)
	p.giveUpBlock(lost)
	p.free(b)
	held := p.index[free].bytes
	if p.FreeHeld(); p.index[free].bytes != held || p.isolated != 112 {
		t.Errorf("%d bytes free, %d before; %d in quarantine", p.index[free].bytes, held, p.isolated)
	}
}

// A bare upstream has regions that cannot give up bytes.
type bare struct{}

type bareRegion int

func (r bareRegion) Size() int { return int(r) }

func (*bare) Alloc(size int) (device.Block, error) {
	r := bareRegion(size)
	return device.Block{Region: &r, Len: size}, nil
}

func (*bare) Free(device.Block) {}

// Pages that an extent covers with lost neighbours are unused: quarantine, and free memory without whole pages, or all of
// it if it is to go.
func TestUnusedPages(t *testing.T) {
	const k = page / 4
	for _, c := range []struct {
		states string // of extents by address: used, free, quarantined; the one that is looked at is x
		sizes  []int  // in quarters of a page
		all    bool
		lo, hi int // pages; hi is not above lo if there are none
	}{
		{"uxu", []int{4, 4, 4}, false, 1, 2},
		{"uxu", []int{4, 12, 4}, false, 1, 4},
		{"uxu", []int{2, 4, 2}, false, 0, 0},
		{"uxu", []int{2, 6, 4}, false, 1, 2},
		{"uxu", []int{4, 6, 2}, false, 1, 2},
		{"qxu", []int{2, 4, 2}, false, 0, 1},
		{"uxq", []int{2, 4, 2}, false, 1, 2},
		{"qxq", []int{2, 4, 2}, false, 0, 2},
		{"fxu", []int{2, 4, 2}, false, 0, 1},
		{"uxf", []int{2, 4, 2}, false, 1, 2},
		{"qfxu", []int{1, 1, 4, 2}, false, 0, 1},
		{"uxfq", []int{2, 4, 1, 1}, false, 1, 2},
		{"ufxu", []int{1, 1, 4, 2}, false, 0, 0},
		{"fxu", []int{6, 4, 2}, false, 0, 0},
		{"fxu", []int{6, 4, 2}, true, 1, 2},
		{"uxf", []int{2, 4, 6}, false, 0, 0},
		{"uxf", []int{2, 4, 6}, true, 1, 2},
		{"ufxu", []int{2, 4, 2, 4}, false, 1, 2}, // the free memory has no whole page
		{"uxfu", []int{4, 2, 4, 2}, false, 1, 2},
	} {
		for _, segments := range []bool{true, false} {
			p := start(on(&pages{}, segments), Options{})
			if err := p.Prefill(8 * page); err != nil {
				t.Fatal(err)
			}
			x := int32(none)
			for n, size := range c.sizes {
				i := p.AllocFree(size * k)
				switch c.states[n] {
				case 'x':
					x = i
				case 'f':
					p.at(i).state = free
				case 'q':
					p.at(i).state = quarantined
				}
			}
			p.AllocFree(page)
			lo, hi := p.unused(x, c.all)
			if max(hi-lo, 0) != (c.hi-c.lo)*page || hi > lo && lo != c.lo*page {
				t.Errorf("%+v: pages from %d to %d", c, lo, hi)
			}
		}
	}
}
