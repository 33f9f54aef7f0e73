package slab

import (
	"testing"

	"github.com/bufslab/bufslab/device"
)

// Sizes beyond all classes are asked for as they are and never kept; above
// all, no smaller block serves them.
func TestSizesBeyondTheClassesAreNotHeld(t *testing.T) {
	if uint64(maxAsk) <= maxClass {
		t.Skip("an int is too small for such a size")
	}
	const small, huge = 1, int(maxClass) + 1
	for _, name := range []string{"bitlog", "sizeclass"} {
		up := &fake{}
		s := newStrategy(up, Config{Strategy: name}.forStrategy(name, up)).(testKeeper)
		var live []device.Block
		for range 9 {
			live = append(live, mustAlloc(t, s, small))
		}
		for _, b := range live {
			s.Free(b)
		}
		held := s.Usage().HeldBlocks
		b := mustAlloc(t, s, huge)
		if b.Region.Size() < huge {
			t.Errorf("%s: a region of %d bytes for %d", name, b.Region.Size(), huge)
		}
		if s.Free(b); s.Usage().HeldBlocks != held || up.bytes > 1<<20 {
			t.Errorf("%s: %+v", name, s.Usage())
		}
		if c := mustAlloc(t, s, small); c.Region.Size() > 1<<20 {
			t.Errorf("%s: a region of %d bytes for %d", name, c.Region.Size(), small)
		}
	}
}

// A small block that stood alone when there was no room for a slab is held as
// a whole one: it must not be lent to what is far larger.
func TestASmallWholeBlockServesNothingLarger(t *testing.T) {
	if uint64(maxAsk) <= maxClass {
		t.Skip("an int is too small for such a size")
	}
	up := &fake{capacity: 1000}
	s := NewSizeclass(up, Config{})
	s.Free(mustAlloc(t, s, 16)) // no room for a slab of 16 KiB
	if s.Usage().HeldBlocks != 1 {
		t.Fatalf("%+v", s.Usage())
	}
	up.capacity = 0
	if b := mustAlloc(t, s, int(maxClass)+1); b.Region.Size() <= 16 {
		t.Errorf("a region of %d bytes", b.Region.Size())
	}
}
