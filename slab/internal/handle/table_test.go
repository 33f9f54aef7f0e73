package handle

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/gcwatch"
)

// A region is host memory that is dead when the test says so.
type region struct {
	mem        []byte
	dead, held bool
	lost       func()
	size       int
}

func newRegion() *region { return &region{mem: make([]byte, 1000), held: true, size: 1000} }

func (r *region) Size() int { return r.size }
func (r *region) Bytes() []byte {
	if r.dead {
		return nil
	}
	return r.mem
}

// A collected region says that the collector owns it.
type collected struct{ *region }

func (c collected) Watch(lost func()) { c.lost = lost }
func (c collected) Loosen()           { c.held = false }
func (c collected) Hold() bool        { c.held, c.dead = true, false; return true }

// A log is what a table has told its owner.
type log struct {
	forgotten []*Slot
	escaped   int  // of those
	inUse     bool // the answer to Forgotten
	freed     []Allocation
	isolated  []Allocation
	parts     int // forgotten
}

func openTable(watchFrom int) (*Table, *log) {
	t, l := new(Table), new(log)
	t.Open(unsafe.Pointer(l), Options{
		Lock:           new(sync.Mutex),
		WatchCollected: true, WatchFrom: watchFrom, WatchUnreachableFrom: watchFrom,
		Forgotten: func(e Entry, escaped bool) bool {
			if l.forgotten = append(l.forgotten, e.Slot); escaped {
				l.escaped++
			}
			return l.inUse
		},
		PartForgotten: func(root, part *Slot) { l.parts++ },
		Free:          func(a []Allocation) { l.freed = append(l.freed, a...) },
		Quarantine:    func(a Allocation) { l.isolated = append(l.isolated, a) },
	})
	return t, l
}

// attach gives a part of r at off a slot.
func attach(t *Table, r device.Region, off int) *Slot { return attachBytes(t, r, off, 100) }

func attachBytes(t *Table, r device.Region, off, n int) *Slot {
	e, ok := t.Attach(device.Block{Region: r, Off: off, Len: n}, int32(off), 0, true)
	if ok != (e.Slot != nil) {
		panic("Attach reports a slot that it has not, or none")
	}
	return e.Slot
}

func part(r device.Region, off int) Allocation {
	return Allocation{Block: device.Block{Region: r, Off: off, Len: 100}, Extent: int32(off)}
}

// A block that arrives while its region is being reported dead gets no slot, and goes
// back with what was forgotten.
func TestAttachDefersWhileItsRegionIsReportedDead(t *testing.T) {
	table, l := openTable(0)
	r := collected{newRegion()}
	attach(table, r, 0).Lend(100)
	r.dead = true
	if s := attach(table, r, 100); s != nil || table.Deferred() != (Tally{1, 100}) {
		t.Fatalf("%v, %+v deferred", s, table.Deferred())
	}
	r.lost()
	if want := []Allocation{part(r, 100), part(r, 0)}; !slices.Equal(l.freed, want) || table.Deferred() != (Tally{}) || l.escaped > 0 {
		t.Errorf("%v freed, want %v; %+v deferred", l.freed, want, table.Deferred())
	}
}

// While a forgotten block is still in use by streams its region is found dead again.
func TestARegionIsWatchedAgainWhileBlocksAreInUse(t *testing.T) {
	table, l := openTable(0)
	r := collected{newRegion()}
	s := attach(table, r, 0)
	for range 2 {
		s.Lend(100)
		l.inUse = true
		if r.lost(); r.held || len(l.freed) != 0 {
			t.Fatalf("held %v, %v freed", r.held, l.freed)
		}
	}
	s.Lend(100)
	l.inUse = false
	r.lost()
	if !r.held || len(l.freed) != 1 || len(l.forgotten) != 3 {
		t.Errorf("held %v, %v freed, %d times forgotten", r.held, l.freed, len(l.forgotten))
	}
}

// A slot that was released while With runs is not forgotten: that call recycles it.
func TestAPinnedSlotIsNotForgotten(t *testing.T) {
	table, l := openTable(1)
	s := attach(table, newRegion(), 0)
	gen := s.Lend(100)
	s.Pin(gen)
	s.EndPinned(gen)
	s.unwatch() // the runtime has removed the finalizer when it runs
	table.onSlotDead(s)
	if len(l.forgotten) != 0 || len(l.freed) != 0 || !s.Unpin() {
		t.Errorf("%d forgotten, %v freed", len(l.forgotten), l.freed)
	}
}

// Off the heap, a forgotten block goes to the strategy, or into quarantine if a slice of
// it escaped, which reaches at least a byte; its slot is watched again, for the next block.
func TestAnEscapedBlockIsIsolated(t *testing.T) {
	for _, n := range []int{0, 1, 100} {
		for _, escaped := range []bool{false, true} {
			table, l := openTable(1)
			r := newRegion()
			s := attachBytes(table, r, 0, n)
			s.End(s.Lend(n)) // the first generation is 0, like that of a slot that is not doubted
			if s.Lend(n); escaped {
				s.Escape()
			}
			s.unwatch() // the runtime has removed the finalizer when it runs
			table.onSlotDead(s)
			isolated := 0
			if escaped && n > 0 {
				isolated = 1
			}
			if len(l.freed) != 1-isolated || len(l.isolated) != isolated || l.escaped != isolated || table.WatchedBytes() != 0 || len(l.forgotten) != 1 {
				t.Errorf("%d bytes, escaped %v: %v freed, %v isolated, %d watched", n, escaped, l.freed, l.isolated, table.WatchedBytes())
			}
			other := attach(table, r, 100)
			if other.Lend(100); other != s || other.MayHaveEscaped() {
				t.Errorf("%d bytes, escaped %v: the same slot %v, escaped %v", n, escaped, other == s, other.MayHaveEscaped())
			}
		}
	}
}

// A block that streams still use when it is forgotten is not given up here: the pool does that later.
func TestAForgottenBlockInUseIsNotGivenUp(t *testing.T) {
	table, l := openTable(1)
	s := attach(table, newRegion(), 0)
	s.Lend(100)
	s.unwatch() // the runtime has removed the finalizer when it runs
	l.inUse = true
	if table.onSlotDead(s); len(l.forgotten) != 1 || len(l.freed)+len(l.isolated) != 0 || table.WatchedBytes() != 100 {
		t.Errorf("%v freed, %v isolated, %d bytes watched", l.freed, l.isolated, table.WatchedBytes())
	}
}

// A slice of no bytes is not what its owner has left: without a handle the block is forgotten. The slice of a byte is.
func TestASliceOfNoBytesKeepsNothing(t *testing.T) {
	for n, want := range []int{1, 0} {
		table, l := openTable(1)
		s := attachBytes(table, newRegion(), 0, n)
		s.Lend(n)
		s.BySlice()
		for range 2 { // it is doubted once
			s.unwatch() // the runtime has removed the finalizer when it runs
			table.onSlotDead(s)
		}
		if len(l.forgotten) != want || l.escaped > 0 {
			t.Errorf("%d bytes: %d times forgotten", n, len(l.forgotten))
		}
	}
}

// The collector finds the owner of a slot that it found vacant before, and a forgotten part.
func TestTheCollectorFindsWhatIsForgotten(t *testing.T) {
	table, l := openTable(1)
	r := newRegion()
	func() {
		s := attach(table, r, 0)
		table.Detach(s)
		s.unwatch() // the runtime has removed the finalizer when it runs
		table.onSlotDead(s)
		if again := attach(table, r, 100); again != s {
			t.Error("another slot")
		}
		s.Lend(100)
	}()
	root := attach(table, r, 200)
	gen := root.Lend(100)
	for i := range 2 { // the second may have the slot of the first, which is released
		root.Pin(gen)
		e, _ := root.Part(unsafe.Pointer(&r.mem[200]), 0, 50)
		root.Unpin()
		if at := e.Slot.Lend(50); i == 0 && e.Slot.End(at) {
			e.Slot.EndPart()
		}
	}
	found := func() bool {
		table.mu.Lock()
		defer table.mu.Unlock()
		return len(l.forgotten) == 1 && root.word.Load() == gen
	}
	for range 10 {
		if gcwatch.Collect(func() int64 { return 0 }); found() {
			return
		}
	}
	t.Errorf("%d blocks were found forgotten, and the word of the root is %#x", len(l.forgotten), root.word.Load())
}

// A table is vacant while no block has a slot, in whatever region.
func TestIsVacant(t *testing.T) {
	table, _ := openTable(1)
	a, b := newRegion(), newRegion()
	if !table.IsVacant() {
		t.Error("a new table is not vacant")
	}
	first, second := attach(table, a, 0), attach(table, b, 0)
	if table.IsVacant() {
		t.Error("vacant with two blocks")
	}
	if table.Detach(first); table.IsVacant() {
		t.Error("vacant with one block")
	}
	if table.Detach(second); !table.IsVacant() {
		t.Error("not vacant without a block")
	}
}

// A slot that was found by its slice after the collector had found it dead has an owner who is
// alive. It is forgotten when the collector finds it dead twice in one generation.
func TestASlotThatWasFoundBySliceIsAlive(t *testing.T) {
	table, l := openTable(1)
	s := attach(table, newRegion(), 0)
	for range 3 {
		s.Lend(100)
		if gen := s.BySlice(); !s.IsBySlice(gen) || !s.End(gen) { // by the slice, as Put does
			t.Fatal("not the owner of a slice")
		}
		gen := s.Lend(100)
		s.unwatch() // the runtime has removed the finalizer when it runs
		if table.onSlotDead(s); len(l.forgotten) != 0 || !s.End(gen) {
			t.Fatal("the owner is alive")
		}
	}
	s.Lend(100)
	for want := range 2 {
		s.unwatch()
		if table.onSlotDead(s); len(l.forgotten) != want {
			t.Errorf("%d forgotten, not %d", len(l.forgotten), want)
		}
	}
	if len(table.doubted) != 0 {
		t.Error("a vacant slot is doubted")
	}
	s.unwatch()
	if table.onSlotDead(s); table.WatchedBytes() != 0 {
		t.Error("a vacant slot has a block")
	}
}

// Vacant slots of a region that leaves have no finalizer any more; a region with blocks
// stays.
func TestForgetUnwatches(t *testing.T) {
	table, _ := openTable(1)
	r := newRegion()
	s := attach(table, r, 0)
	if table.Forget(r); len(table.regions) != 1 {
		t.Error("a region with a block was forgotten")
	}
	table.Detach(s)
	if table.Forget(r); len(table.regions) != 0 {
		t.Error("a region without blocks was not forgotten")
	}
	s.watch() // fatal where it is watched still
	s.unwatch()
}

// After Stop no slot without a block has a finalizer, whether it was vacant then or came
// to be: each would keep the table alive.
func TestStopUnwatches(t *testing.T) {
	table, _ := openTable(1)
	r := newRegion()
	vacant, later := attach(table, r, 0), attach(table, r, 100)
	unwatched := func(s *Slot) {
		s.watch() // fatal where it is watched still
		if s.unwatch(); len(table.regions[r].watched) != 0 {
			t.Error("a vacant slot is kept")
		}
	}
	table.Detach(vacant)
	table.Stop()
	table.onSlotDead(vacant) // a report that was on its way
	unwatched(vacant)
	table.Detach(later)
	unwatched(later)
}

// Unfound counts the owners that have a slice alone, and those without a finalizer, and not the owners before them.
func TestUnfoundCountsOwners(t *testing.T) {
	for watchFrom, unwatched := range map[int]Tally{1000: {Blocks: 1, Bytes: 90}, 1: {}} { // without finalizers, and with
		table, _ := openTable(watchFrom)
		r := newRegion()
		byHandle, released, again := attach(table, r, 0), attach(table, r, 100), attach(table, r, 200)
		byHandle.Lend(100)
		released.Lend(100)
		released.End(released.BySlice())
		again.Lend(100)
		again.End(again.BySlice())
		again.Lend(90)
		if n, _ := table.Unfound(); n != (Tally{}) {
			t.Errorf("%+v before there is one", n)
		}
		for i, bytes := range []int{70, 30} {
			s := attach(table, r, 300+100*i)
			s.Lend(bytes)
			s.BySlice()
			defer runtime.KeepAlive(s)
		}
		table.Detach(byHandle)
		if n, more := table.Unfound(); n != (Tally{Blocks: 2, Bytes: 100}) || more != unwatched {
			t.Errorf("%+v, %+v", n, more)
		}
		runtime.KeepAlive([]*Slot{byHandle, released, again})
	}
}
