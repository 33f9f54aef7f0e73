package slab

import (
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/device"
)

func TestHeapsRoundToTheirAlignment(t *testing.T) {
	for _, align := range []int{16, 64, 512} {
		for _, name := range []string{"bestfit", "slab"} {
			s := holderOn(name, &source{}, Config{Align: align})
			r := rand.New(rand.NewPCG(2, 1))
			for range 1000 {
				n := 1 + r.IntN(1<<r.IntN(18))
				before := s.Usage().RoundingBytes
				mustAlloc(t, s, n)
				most := int64(align)
				if name == "slab" { // it carves small ones, and aligns the others to 64
					most = max(most, 64, int64(min(n, 1<<10)/8))
				}
				if waste := s.Usage().RoundingBytes - before; waste < 0 || waste >= most {
					t.Fatalf("%s aligned to %d: %d bytes waste %d", name, align, n, waste)
				}
			}
		}
	}
}

// An empty slab of a Slab goes back to the heap at once, for all sizes.
func TestSlabsThatAreEmptyAreHeap(t *testing.T) {
	up := &pages{}
	s := holderOn("slab", up, Config{})
	var live []device.Block
	for range 1000 {
		live = append(live, mustAlloc(t, s, 64))
	}
	for _, b := range live {
		s.Free(b)
	}
	if u := s.Usage(); u.HeldBlocks != 1 || u.UnusableBytes != 0 {
		t.Errorf("usage %+v, want one free extent", u)
	}
	calls := up.Calls
	mustAlloc(t, s, 60_000)
	if up.Calls != calls {
		t.Error("the memory of empty slabs did not serve a large block")
	}
}

// Addresses that no memory was to be had for go back like memory.
func TestRangeWithoutMemoryIsClosed(t *testing.T) {
	for _, name := range []string{"bestfit", "slab"} {
		up := &pages{Source: source{Capacity: 100}}
		a := holderOn(name, up, Config{})
		if _, err := a.Alloc(10); !outOfMemory(err) {
			t.Fatal(err)
		}
		if a.FreeHeld(); up.Opened == 0 || up.Open != 0 {
			t.Errorf("%s: %d ranges are open, and nothing is out", name, up.Open)
		}
	}
}
