package slab

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/upstreamtest"
	"github.com/bufslab/bufslab/slab/internal/sizeclass"
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
		s := holderOn("sizeclass", &source{}, Config{})
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
	up := &source{}
	s := holderOn("sizeclass", up, Config{})
	var live []device.Block
	for range 10_000 {
		live = append(live, mustAlloc(t, s, 100))
	}
	for _, b := range live {
		s.Free(b)
	}
	calls, managed := up.Calls, up.Bytes
	for range 1000 {
		mustAlloc(t, s, 900)
	}
	if up.Calls > calls+8 || up.Bytes > managed+managed/2 {
		t.Errorf("%d calls upstream, %d bytes where %d were held", up.Calls-calls, up.Bytes, managed)
	}
}

// Rounding stays below size/steps or the alignment.
func TestSizeclassWastesLessThanAStep(t *testing.T) {
	for _, steps := range []int{1, 2, 4, 8} {
		s := holderOn("sizeclass", &source{}, Config{Steps: steps})
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

// Sizes beyond all classes are asked for as they are and never kept; above
// all, no smaller block serves them.
func TestSizesBeyondTheClassesAreNotHeld(t *testing.T) {
	if uint64(maxAsk) <= sizeclass.Max {
		t.Skip("an int is too small for such a size")
	}
	const small, huge = 1, int(sizeclass.Max) + 1
	for _, name := range []string{"bitlog", "sizeclass"} {
		up := &source{}
		s := holderOn(name, up, Config{})
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
		if s.Free(b); s.Usage().HeldBlocks != held || up.Bytes > 1<<20 {
			t.Errorf("%s: %+v", name, s.Usage())
		}
		if c := mustAlloc(t, s, small); c.Region.Size() > 1<<20 {
			t.Errorf("%s: a region of %d bytes for %d", name, c.Region.Size(), small)
		}
	}
}

// A size beyond the classes gets nothing that is held: here a byte, for which
// there was no room to make it part of a slab.
func TestSizesWithoutAClassStandApart(t *testing.T) {
	for _, name := range []string{"bitlog", "sizeclass"} {
		a := strategyOn(name, openDevice(t, "virtual:100"), Config{})
		a.Free(mustAlloc(t, a, 1))
		if b, err := a.Alloc(maxAsk); !errors.Is(err, device.ErrOutOfMemory) {
			t.Errorf("%s: Alloc of %d bytes: %+v, %v", name, maxAsk, b, err)
		}
	}
}

// A small block that stood alone when there was no room for a slab is held as
// a whole one: it must not be lent to what is far larger.
func TestASmallWholeBlockServesNothingLarger(t *testing.T) {
	if uint64(maxAsk) <= sizeclass.Max {
		t.Skip("an int is too small for such a size")
	}
	up := &source{Capacity: 1000}
	s := holderOn("sizeclass", up, Config{})
	s.Free(mustAlloc(t, s, 16)) // no room for a slab of 16 KiB
	if s.Usage().HeldBlocks != 1 {
		t.Fatalf("%+v", s.Usage())
	}
	up.Capacity = 0
	if b := mustAlloc(t, s, int(sizeclass.Max)+1); b.Region.Size() <= 16 {
		t.Errorf("a region of %d bytes", b.Region.Size())
	}
}

// Where nothing else is left, far too large a block serves.
func TestSizeclassLendsAnyBlockBeforeItFails(t *testing.T) {
	up := &source{Capacity: 1 << 20}
	s := holderOn("sizeclass", up, Config{})
	s.Free(mustAlloc(t, s, 1<<20))
	s.Free(mustAlloc(t, s, 40<<10))
	mustAlloc(t, s, 100)
}

// Where there is no room for a slab, one of larger blocks serves; and one that is empty makes
// room for what is larger than its blocks.
func TestSlabsServeWhereThereIsNoRoom(t *testing.T) {
	s := holderOn("sizeclass", &source{Capacity: 16 << 10}, Config{})
	large := mustAlloc(t, s, 1000)
	s.Free(mustAlloc(t, s, 100))
	s.Free(large)
	mustAlloc(t, s, 10_000)
}

// A block that was all there was room for is too short for the others of its class, and is
// not held.
func TestAShortBlockIsOfNoClass(t *testing.T) {
	up := &source{Capacity: 34_000}
	s := holderOn("sizeclass", up, Config{})
	s.Free(mustAlloc(t, s, 33_000))
	up.Capacity = 0
	if b := mustAlloc(t, s, 40_000); b.Region.Size() < 40_000 {
		t.Errorf("a region of %d bytes for 40000", b.Region.Size())
	}
}

// What regions of slabs have beyond what was asked is unusable as long as they are slabs.
func TestRegionsOfSlabsAreCountedOnce(t *testing.T) {
	up := &source{Round: 10_000}
	s := holderOn("sizeclass", upstreamtest.Device{Source: up}, Config{})
	b := mustAlloc(t, s, 100)
	if u := s.Usage(); u.UnusableBytes == 0 || u.ManagedBytes() != up.Bytes {
		t.Errorf("%+v of %d bytes", u, up.Bytes)
	}
	s.Free(b)
	if s.FreeHeld(); s.Usage() != (Usage{}) {
		t.Errorf("%+v when all has gone", s.Usage())
	}
}

// Free blocks of slabs are held, too: whole ones make room for them within max_held.
func TestFreeBlocksOfSlabsAreWithinTheBound(t *testing.T) {
	s := holderOn("sizeclass", &source{}, Config{MaxHeld: 128 << 10})
	whole := mustAlloc(t, s, 64<<10)
	var live []device.Block
	for range 90 {
		live = append(live, mustAlloc(t, s, 1024))
	}
	s.Free(whole)
	for i := range live {
		s.Free(live[i*7%len(live)]) // of one slab after the other
		if n := s.Usage().HeldBytes; n > 128<<10 {
			t.Fatalf("%d bytes are held after %d blocks", n, i+1)
		}
	}
}

// A small Get gives a large held block back. It does not take it for itself: nothing else
// would fit any more.
func TestASmallGetDoesNotTakeALargeBlock(t *testing.T) {
	for _, line := range []string{"max_bytes=8MiB", "max_bytes=8MiB,cache_bytes=0", "device=mmap,strategy=sizeclass,max_bytes=8MiB"} {
		p := openLine(t, line)
		mustRelease(t, mustGet(t, p, 8<<20))
		var out []PooledBuffer
		for _, n := range []int{512, 513, 64 << 10, 100 << 10, 2 << 20} {
			out = append(out, mustGet(t, p, n))
		}
		releaseAll(t, out)
	}
}
