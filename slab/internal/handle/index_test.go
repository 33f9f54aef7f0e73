package handle

import (
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// The index finds each block by its address and nothing else, whatever came and went.
func TestIndexFindsWhatIsAttached(t *testing.T) {
	table, _ := openTable(0)
	r := newRegion()
	r.mem = make([]byte, 1<<20)
	x := &table.index
	was := x.cells.Load()
	first := uintptr(unsafe.Pointer(unsafe.SliceData(r.mem)))
	slots := map[int]*Slot{}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		off := random.IntN(4_000) * 16
		if s := slots[off]; s != nil {
			table.Detach(s)
			delete(slots, off)
		} else if len(slots) < i%4_000 {
			e, _ := table.Attach(device.Block{Region: r, Off: off, Len: 16}, 0, 0, false)
			slots[off] = e.Slot
		}
		if c := x.cells.Load(); c != was {
			if n := len(c.of); 8*x.slots > 3*n || n > leastCells && 16*x.slots < 3*n-16 || x.used != x.slots {
				t.Errorf("%d slots of %d cells are used, with %d of slots", x.used, n, x.slots)
			}
			was = c
		}
		off = random.IntN(4_000) * 16
		if s := table.index.find(first + uintptr(off)); s != slots[off] {
			t.Fatalf("step %d: at %d %p, not %p", i, off, s, slots[off])
		}
	}
	if x.slots != len(slots)+len(table.regions[r].watched) || 4*x.used > 3*len(x.cells.Load().of) || len(x.cells.Load().of) > 1<<14 {
		t.Errorf("%d slots of %d, %d of %d cells used", x.slots, len(slots), x.used, len(x.cells.Load().of))
	}
}

// An index looks at few cells, whether blocks lie in a row or anywhere, and its next cells are all cells.
func TestTheIndexLooksAtFewCells(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for what, address := range map[string]func(i int) uintptr{
		"blocks of 16 bytes": func(i int) uintptr { return uintptr(16 * i) },
		"pages":              func(i int) uintptr { return uintptr(4096 * i) },
		"anywhere":           func(int) uintptr { return uintptr(random.Uint32() &^ 15) },
	} {
		c := newCells(1 << 12)
		const n = 3 << 12 / 8
		looks := 0
		for i := range n {
			s := &Slot{addr: address(1 + i)}
			c.enter(s)
			kept = append(kept, s) // cells keep nothing
			at := c.first(s.addr)
			for looks++; c.of[at] != cellOf(s); looks++ {
				at = c.next(at)
			}
		}
		if looks > n*3/2 {
			t.Errorf("%s: %d looks for %d slots", what, looks, n)
		}
	}
	kept = nil
	c, seen, at := newCells(leastCells), map[uint]bool{}, uint(5)
	for range leastCells {
		seen[at] = true
		at = c.next(at)
	}
	if len(seen) != leastCells || at != 5 {
		t.Errorf("next comes to %d of %d cells, and then to %d", len(seen), leastCells, at)
	}
}

// A block that comes and goes by itself uses no cell afterwards, so that no index is made anew for it.
func TestBlocksThatWentUseNoCell(t *testing.T) {
	table, _ := openTable(1000)
	r := newRegion()
	for off := range 900 {
		s := attach(table, r, off)
		if table.index.used != 1 {
			t.Fatalf("%d cells used for one block", table.index.used)
		}
		if table.Detach(s); table.index.used != 0 || table.index.slots != 0 || table.WatchedBytes() != 0 {
			t.Fatalf("%d cells used, %d slots, %d bytes watched", table.index.used, table.index.slots, table.WatchedBytes())
		}
	}
	if n := len(table.regions[r].singles); n != 1 {
		t.Errorf("%d slots for one block at a time", n)
	}
}

// Memory that the CPU cannot reach is not in the index; a buffer of 0 bytes is, by the address of its slot.
func TestTheIndexHasAddresses(t *testing.T) {
	for _, watchFrom := range []int{1, 1000} {
		table, _ := openTable(watchFrom)
		far := &unreachable{1000}
		for range 2 {
			s := attach(table, far, 100)
			if b, extent := table.Detach(s); b != (part(far, 100).Block) || extent != 100 || table.index.slots != 0 {
				t.Errorf("%+v, extent %d, %d slots in the index", b, extent, table.index.slots)
			}
		}
		for _, r := range []device.Region{nil, far, newRegion()} {
			e, _ := table.Attach(device.Block{Region: r}, 0, 0, false)
			gen := e.Slot.Lend(0)
			if got, g, n := table.Find(uintptr(e.Mem)); e.Mem != unsafe.Pointer(e.Slot) || got != e.Slot || g != gen || n != 0 {
				t.Errorf("of 0 bytes in %T: %p is found, not %p", r, got, e.Slot)
			}
			if b := e.Slot.Block(0); b != (device.Block{Region: r}) {
				t.Errorf("%+v", b)
			}
		}
	}
}

// A block of one byte has the address of that byte.
func TestABlockOfOneByte(t *testing.T) {
	table, _ := openTable(1)
	r := newRegion()
	for _, c := range []device.Region{r, collected{newRegion()}} {
		e, _ := table.Attach(device.Block{Region: c, Off: 7, Len: 1}, 0, 0, false)
		e.Slot.Lend(1)
		if s, _, n := table.Find(uintptr(e.Mem)); s != e.Slot || n != 1 || e.Slot.Block(1) != (device.Block{Region: c, Off: 7, Len: 1}) {
			t.Errorf("%p of %d bytes is found, %+v", s, n, e.Slot.Block(1))
		}
		if c == device.Region(r) != (e.Mem == unsafe.Pointer(&r.mem[7])) || e.Slot.Collected() == (c == device.Region(r)) {
			t.Errorf("%T: at %p, collected %v", c, e.Mem, e.Slot.Collected())
		}
	}
}

// Find sees who has been lent the block, and no one while it is in a cache.
func TestFindTellsWhoHasIt(t *testing.T) {
	for _, r := range []device.Region{newRegion(), collected{newRegion()}} {
		testFindTellsWhoHasIt(t, r)
	}
}

func testFindTellsWhoHasIt(t *testing.T, r device.Region) {
	table, _ := openTable(0)
	s := attach(table, r, 0)
	for range 3 {
		if got, _, _ := table.Find(s.addr); got != nil {
			t.Error("found before it was lent")
		}
		gen := s.Lend(60)
		s.Pin(gen)
		if got, g, n := table.Find(s.addr); got != s || g != gen || n != 60 {
			t.Errorf("%p, generation %d, %d bytes", got, g, n)
		}
		s.Unpin()
		s.End(gen)
	}
	addr := s.addr
	if table.Detach(s); table.index.find(addr) != nil {
		t.Error("found after it was detached")
	}
}

// A vacant slot with a finalizer stays in the index until it has a block that begins elsewhere,
// or is let go of: it is found at no address meanwhile.
func TestVacantSlotsLeaveTheIndex(t *testing.T) {
	for what, letGo := range map[string]func(*Table, device.Region){
		"Forget": func(t *Table, r device.Region) { t.Forget(r) },
		"Stop":   func(t *Table, _ device.Region) { t.Stop() },
	} {
		table, _ := openTable(1)
		r := newRegion()
		a, b := attach(table, r, 0), attach(table, r, 100)
		first := a.addr
		for _, off := range []int{0, 200} {
			table.Detach(a)
			if table.index.find(first) != nil || table.index.slots != 2 {
				t.Errorf("a vacant slot is found, or not in the index: %d are", table.index.slots)
			}
			if a = attach(table, r, off); table.index.find(a.addr) != a {
				t.Errorf("the slot is not found at %d", off)
			}
		}
		if table.index.find(first) != nil {
			t.Error("the slot is found where it was")
		}
		table.Detach(a)
		table.Detach(b)
		if letGo(table, r); table.index.slots != 0 {
			t.Errorf("%s leaves %d slots in the index", what, table.index.slots)
		}
	}
}

// While blocks come and go, those that stay are found.
func TestFindBesideChanges(t *testing.T) {
	table, _ := openTable(0)
	r := newRegion()
	r.mem = make([]byte, 1<<20)
	block := func(i int) device.Block { return device.Block{Region: r, Off: 16 * i, Len: 16} }
	var stay []*Slot
	for i := range 100 {
		e, _ := table.Attach(block(i), 0, 0, false)
		e.Slot.Lend(16)
		stay = append(stay, e.Slot)
	}
	var all sync.WaitGroup
	for g := range 3 {
		all.Go(func() {
			for i := range 3_000 {
				if g == 0 {
					table.mu.Lock()
					e, _ := table.Attach(block(100+i), 0, 0, false)
					if i%50 != 0 {
						table.Detach(e.Slot)
					}
					table.mu.Unlock()
				} else if s := stay[i%len(stay)]; !found(table, s) {
					t.Errorf("block %d is not found", i%len(stay))
				}
			}
		})
	}
	all.Wait()
}

func found(t *Table, s *Slot) bool {
	got, _, _ := t.Find(s.addr)
	return got == s
}
