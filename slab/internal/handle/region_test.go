package handle

import (
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// A With that ends on a buffer that is not released leaves the slot alone.
func TestUnpinOfALentSlotRecyclesNothing(t *testing.T) {
	s := newSlot()
	if gen := s.Lend(100); !s.Pin(gen) || s.Unpin() || !s.End(gen) {
		t.Error("the slot was recycled, or could not be ended")
	}
}

// What the last owner of a slot did is nothing to the next block.
func TestAttachBeginsAnew(t *testing.T) {
	table, _ := openTable(1)
	r := newRegion()
	s := attach(table, r, 0)
	s.SetStreamed()
	table.Detach(s)
	e, _ := table.Attach(part(r, 100).Block, 7, 3, false)
	if e.Slot != s || s.Simple() || s.Streamed() || s.flags&watched == 0 || s.Class() != 3 || s.extent != 7 {
		t.Errorf("the same slot %v: %+v", e.Slot == s, s)
	}
	if table.Detach(s); table.WatchedBytes() != 0 {
		t.Error("bytes are watched with no block out")
	}
}

// The table holds the memory of a region exactly while none of its blocks has a slot.
func TestARegionIsLooseWhileBlocksAreOut(t *testing.T) {
	table, _ := openTable(0)
	r := collected{newRegion()}
	a := attach(table, r, 0)
	b := attach(table, r, 100)
	if r.held {
		t.Error("held with two blocks out")
	}
	if table.Detach(a); r.held {
		t.Error("held with one block out")
	}
	if table.Detach(b); !r.held {
		t.Error("not held with no block out")
	}
	if attach(table, r, 0); r.held {
		t.Error("held with a block out again")
	}
}

// The list of vacant slots does not keep one that is in use: its finalizer would not run.
func TestAWatchedSlotInUseIsKeptByNothing(t *testing.T) {
	table, l := openTable(1)
	r := newRegion()
	s := attach(table, r, 0)
	table.Detach(s)
	list := table.regions[r].watched
	attach(table, r, 100)
	if list[0] != nil {
		t.Error("the slot is still in the list")
	}
	table.Detach(s)
	s.unwatch() // as it was when the finalizer of a vacant slot runs
	if table.onSlotDead(s); len(l.forgotten) != 0 || len(l.freed) != 0 {
		t.Errorf("a slot without a block was forgotten: %v freed", l.freed)
	}
}

// A region that comes back after Forget is a new one.
func TestForgetIsNotRemembered(t *testing.T) {
	table, _ := openTable(0)
	r := newRegion()
	table.Detach(attach(table, r, 0))
	table.Forget(r)
	if attach(table, r, 0); len(table.regions) != 1 {
		t.Errorf("%d regions", len(table.regions))
	}
}

// unreachable is memory that the CPU does not reach.
type unreachable struct{ size int }

func (u *unreachable) Size() int { return u.size }

// Which blocks have a finalizer.
func TestWhichSlotsAreWatched(t *testing.T) {
	table := new(Table)
	table.Open(nil, Options{
		Lock: new(sync.Mutex), WatchCollected: true, WatchFrom: 200, WatchUnreachableFrom: 50,
		Forgotten: func(Entry, bool) bool { return true }, // left over at the end of the test
	})
	for _, c := range []struct {
		r    device.Region
		n    int
		want bool
	}{
		{newRegion(), 199, false}, {newRegion(), 200, true}, {newRegion(), 0, true},
		{&unreachable{1000}, 49, false}, {&unreachable{1000}, 50, true},
		{collected{newRegion()}, 500, false},
	} {
		e, _ := table.Attach(device.Block{Region: c.r, Len: c.n}, 0, 0, true)
		if got := e.Slot.flags&watched != 0; got != c.want {
			t.Errorf("%d bytes of a %T: watched %v", c.n, c.r, got)
		}
	}
}

// A region of a few blocks has a slot for each by itself, one of many has groups, of
// which every slot is used; all of them are found when the memory is dead.
func TestEverySlotOfARegionIsFound(t *testing.T) {
	for _, c := range []struct{ size, blocks, singles, groups int }{
		{100 * fewBlocks, fewBlocks, fewBlocks, 0},
		{100 * (fewBlocks + 1), groupSlots, 0, 1},
		{100 * 1000, groupSlots + 1, 0, 2},
	} {
		table, l := openTable(0)
		r := collected{newRegion()}
		r.mem, r.size = make([]byte, max(c.size, 100*c.blocks)), c.size
		for i := range c.blocks {
			attach(table, r, 100*i).Lend(100)
		}
		x := table.regions[r]
		if len(x.singles) != c.singles || len(x.groups) != c.groups {
			t.Errorf("%d blocks: %d singles, %d groups", c.blocks, len(x.singles), len(x.groups))
		}
		r.dead = true
		if r.lost(); len(l.freed) != c.blocks {
			t.Errorf("%d of %d blocks freed", len(l.freed), c.blocks)
		}
	}
}

// An owner may ask for its block while others are attached: to be run under the race detector.
func TestBlockBesideAttach(t *testing.T) {
	table, _ := openTable(0)
	r := collected{newRegion()}
	r.mem = make([]byte, 100*101)
	s := attach(table, r, 0)
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 100 {
			if b := s.Block(10); b.Off != 0 || b.Len != 10 {
				t.Error(b)
			}
		}
	})
	for i := range 100 {
		attach(table, r, 100*(i+1))
	}
	wg.Wait()
}
