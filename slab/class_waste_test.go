package slab

import (
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// Above 32 KiB a miss borrows a free block up to a doubling larger; below, and
// beyond a doubling, it does not.
func TestSizeclassBorrowsUpToADoubling(t *testing.T) {
	for _, c := range []struct {
		held, ask int
		borrowed  bool
	}{
		{64 << 10, 40 << 10, true}, {80 << 10, 40 << 10, true}, {96 << 10, 40 << 10, false}, {1 << 20, 512 << 10, true},
		{1 << 20, 448<<10 - 1, false}, {1 << 20, 33 << 10, false}, {64 << 10, 32 << 10, false}, {64 << 10, 100, false},
	} {
		up := &fake{}
		s := NewSizeclass(up, Config{})
		held := mustAlloc(t, s, c.held)
		s.Free(held)
		b := mustAlloc(t, s, c.ask)
		if borrowed := b.Region == held.Region; borrowed != c.borrowed {
			t.Errorf("%d bytes from a block of %d: %v", c.ask, c.held, borrowed)
		}
		s.Free(b)
		if again := mustAlloc(t, s, c.held); c.borrowed && again.Region != held.Region {
			t.Errorf("the lent block of %d bytes did not go back to its class", c.held)
		}
	}
}

// A slab that is empty serves another class.
func TestSizeclassSlabsServeAnyClass(t *testing.T) {
	up := &fake{}
	s := NewSizeclass(up, Config{})
	var live []device.Block
	for range 10_000 {
		live = append(live, mustAlloc(t, s, 100))
	}
	for _, b := range live {
		s.Free(b)
	}
	calls, managed := up.calls, up.bytes
	for range 1000 {
		mustAlloc(t, s, 900)
	}
	if up.calls > calls+8 || up.bytes > managed+managed/2 {
		t.Errorf("%d calls upstream, %d bytes where %d were held", up.calls-calls, up.bytes, managed)
	}
}

// Rounding stays below size/steps or the alignment.
func TestSizeclassWastesLessThanAStep(t *testing.T) {
	for _, steps := range []int{1, 2, 4, 8} {
		s := NewSizeclass(&fake{}, Config{Steps: steps})
		r := rand.New(rand.NewPCG(uint64(steps), 1))
		for range 2000 {
			n := 1 + r.IntN(1<<r.IntN(24))
			before := s.Usage().RoundingBytes
			mustAlloc(t, s, n)
			if waste := s.Usage().RoundingBytes - before; waste < 0 || waste >= max(int64(n/steps), 64) {
				t.Fatalf("%d steps: %d bytes waste %d", steps, n, waste)
			}
		}
	}
}

func TestArenasRoundToTheirAlignment(t *testing.T) {
	for _, align := range []int{16, 64, 512} {
		for _, s := range []testStrategy{NewBestfit(&fake{}, Config{Align: align}), NewSlab(&fake{}, Config{Align: align})} {
			r := rand.New(rand.NewPCG(2, 1))
			for range 1000 {
				n := 1 + r.IntN(1<<r.IntN(18))
				before := s.Usage().RoundingBytes
				mustAlloc(t, s, n)
				most := int64(align)
				if _, carves := s.(*Slab); carves && n <= carvedLimit {
					most = max(most, int64(n/8))
				}
				if waste := s.Usage().RoundingBytes - before; waste < 0 || waste >= most {
					t.Fatalf("%T aligned to %d: %d bytes waste %d", s, align, n, waste)
				}
			}
		}
	}
}

// An empty slab of a Slab goes back to the heap at once, for all sizes.
func TestSlabsThatAreEmptyAreHeap(t *testing.T) {
	up := &pages{}
	s := NewSlab(up, Config{})
	var live []device.Block
	for range 1000 {
		live = append(live, mustAlloc(t, s, 64))
	}
	for _, b := range live {
		s.Free(b)
	}
	if u := s.Usage(); u.HeldBlocks != 1 || u.UnusableBytes != 0 {
		t.Errorf("usage %+v, want one free chunk", u)
	}
	calls := up.calls
	mustAlloc(t, s, 60_000)
	if up.calls != calls {
		t.Error("the memory of empty slabs did not serve a large block")
	}
}
