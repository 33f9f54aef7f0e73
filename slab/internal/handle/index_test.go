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
		off = random.IntN(4_000) * 16
		if s := table.index.find(first + uintptr(off)); s != slots[off] {
			t.Fatalf("step %d: at %d %p, not %p", i, off, s, slots[off])
		}
	}
	x := &table.index
	if x.slots != len(slots)+len(table.regions[r].watched) || 4*x.used > 3*len(x.cells.Load().of) || len(x.cells.Load().of) > 1<<14 {
		t.Errorf("%d slots of %d, %d of %d cells used", x.slots, len(slots), x.used, len(x.cells.Load().of))
	}
}

// Find sees who has been lent the block, and no one while it is in a cache.
func TestFindTellsWhoHasIt(t *testing.T) {
	table, _ := openTable(0)
	r := newRegion()
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
