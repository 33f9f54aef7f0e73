package pageheap

import (
	"slices"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/replaying"
)

// Extents tile each segment in the order of addresses, in the states that they have.
func TestExtentsAreThoseOfTheHeap(t *testing.T) {
	up := &pages{}
	p := start(on(up, false), Options{MissTarget: 1})
	a, b, c := p.mustAlloc(t, 4*page), p.mustAlloc(t, 2*page), p.mustAlloc(t, page)
	p.free(a)
	got := p.Extents()
	want := []replaying.Extent{{Off: 0, Len: 4 * page, State: replaying.Free}, {Off: 4 * page, Len: 2 * page}, {Off: 6 * page, Len: page}}
	if !slices.Equal(got[:3], want) {
		t.Errorf("%+v, want first %+v", got, want)
	}
	p.FreeHeld() // its pages go back
	want[0].State = replaying.Decommitted
	if got := p.Extents(); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	p.mustCheck(t, &up.Source)
	p.free(b)
	p.free(c)
	if p.FreeHeld(); len(p.Extents()) != 0 {
		t.Errorf("%+v of an empty heap", p.Extents())
	}
}

// Segments follow each other, each from offset 0.
func TestExtentsOfSeveralSegments(t *testing.T) {
	up := &source{}
	p := start(up, Options{MissTarget: 1})
	p.mustAlloc(t, 1<<20)
	p.mustAlloc(t, 8<<20)
	end, regions, bytes := 0, 0, 0
	for _, x := range p.Extents() {
		if x.Off == 0 {
			end = 0
			regions++
		}
		if x.Off != end || x.Region != regions-1 {
			t.Errorf("%+v follows %d", x, end)
		}
		end += x.Len
		bytes += x.Len
	}
	if regions != up.Allocs || int64(bytes) != p.managed-p.excess {
		t.Errorf("%d regions with %d bytes, want %d with %d", regions, bytes, up.Allocs, p.managed-p.excess)
	}
}

// Free extents are counted by the power of two that they reach.
func TestFreeExtentsBySize(t *testing.T) {
	p, _ := onRange()
	if err := p.Prefill(8 * page); err != nil {
		t.Fatal(err)
	}
	var live []device.Block
	for _, n := range []int{16, 32, 48, 64, page, 2*page - 16, 2 * page} {
		live = append(live, p.mustAlloc(t, n))
		p.mustAlloc(t, 16)
	}
	p.mustAlloc(t, int(p.Counts().FreeBytes))
	if bytes, largest, bySize := p.FreeExtents(); bytes != 0 || largest != 0 || len(bySize) != 0 {
		t.Errorf("%d bytes are free, %d at most, %v", bytes, largest, bySize)
	}
	p.freeAll(live)
	bytes, largest, bySize := p.FreeExtents()
	want := []int64{4: 1, 5: 2, 6: 1, 12: 2, 13: 1}
	if bytes != 16+32+48+64+5*page-16 || largest != 2*page || !slices.Equal(bySize, want) {
		t.Errorf("%d bytes, %d at most, %v, want %v", bytes, largest, bySize, want)
	}
}
