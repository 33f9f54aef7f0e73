package percpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bufslab/bufslab/internal/pin"
)

func aByte(int) int64 { return 1 }

// An idle reclaim takes the magazines that nobody needed since the last one.
func TestDepotKeepsWhatIsNeeded(t *testing.T) {
	d := depot{classes: make([]depotClass, 1)}
	for range 3 {
		d.put(&magazine{n: 5}, 1, 100)
	}
	if out := d.reclaim(true, aByte, nil); out != nil {
		t.Error("magazines that have just come were taken")
	}
	a, b := d.take(0, 1), d.take(0, 1)
	d.put(a, 1, 100)
	d.put(b, 1, 100)
	out := d.reclaim(true, aByte, nil)
	if out == nil || out.next != nil || d.bytes.Load() != 10 {
		t.Errorf("%v, and %d bytes are left", out, d.bytes.Load())
	}
}

// A stopped depot takes nothing, and neither does one that is full.
func TestDepotRefuses(t *testing.T) {
	d := depot{classes: make([]depotClass, 1)}
	if !d.put(&magazine{n: 5}, 1, 5) || d.put(&magazine{n: 1}, 1, 5) || d.bytes.Load() != 5 {
		t.Errorf("%d bytes in a depot of 5", d.bytes.Load())
	}
	d.stops.Add(1)
	if d.put(&magazine{n: 5}, 1, 100) || d.bytes.Load() != 5 {
		t.Errorf("a stopped depot has %d bytes", d.bytes.Load())
	}
}

// What an idle Reclaim leaves in stopped caches stays closed.
func TestReclaimLeavesStoppedCachesClosed(t *testing.T) {
	s := oneCPU(t, Options{Largest: 32 << 10, Bytes: 1 << 20, Depot: 1 << 20})
	for _, size := range []int{100, 100, 5_000} {
		s.release(s.get(t, size), size)
	}
	e := s.get(t, 100)
	s.Reclaim(true) // marks
	s.cpus[0].seen[s.Class(100)].touched--
	s.Stop()
	s.Reclaim(true)
	if s.At(0, s.Class(100)).Push(e, 100) {
		t.Error("a stopped cache took a block")
	}
	s.release(e, 100)
	if s.Reclaim(false); s.Usage().Blocks != 0 {
		t.Errorf("%+v", s.Usage())
	}
}

// A magazine with blocks that leaves a class cache goes to the depot, while that has room for it. An empty one does not.
func TestTheDepotTakesWhatLeaves(t *testing.T) {
	s := oneCPU(t, Options{Largest: 32 << 10, Bytes: 1 << 20, Depot: 1 << 20})
	e := s.get(t, 1024)
	m := &magazine{n: 1, class: int32(e.Slot.Class())}
	m.entries[0] = e
	s.putAway(m)
	if n := s.depot.bytes.Load(); n != 1024 || s.freed != 0 {
		t.Errorf("%d bytes are in the depot, %d blocks went back", n, s.freed)
	}
	s.putAway(&magazine{class: m.class})
	if got := s.depot.take(int(m.class), 1024); got != m || s.depot.take(int(m.class), 1024) != nil {
		t.Errorf("the depot has another magazine than %p", m)
	}
	s.release(e, 1024)
}

// A reclaim of empty caches closes none, where that would take a barrier.
func TestEmptyCachesAreNotClosed(t *testing.T) {
	s := oneCPU(t, Options{Largest: 32 << 10, Bytes: 1 << 20, Depot: 1 << 20})
	if s.worthClosing(false) && pin.Exclusive {
		t.Error("empty caches are worth it")
	}
	s.release(s.get(t, 1024), 1024)
	if !s.worthClosing(false) {
		t.Error("a block is not worth it")
	}
}

// A modelDepot is a depot as slices, the oldest first.
type modelDepot struct {
	full  [2][]*magazine
	least [2]int // since the last reclaim
}

func ofClass(class int) int64 { return 10 + 90*int64(class) }

// usage counts the blocks and their bytes.
func (d *modelDepot) usage() (blocks, bytes int64) {
	for class, list := range d.full {
		for _, m := range list {
			blocks += int64(m.n)
			bytes += int64(m.n) * ofClass(class)
		}
	}
	return blocks, bytes
}

// reclaim takes the youngest, all or as many as were not needed.
func (d *modelDepot) reclaim(idle bool) (out []*magazine) {
	for class, list := range d.full {
		n := len(list)
		if idle {
			n = d.least[class]
		}
		out = append(out, list[len(list)-n:]...)
		d.full[class] = list[:len(list)-n]
		d.least[class] = len(list) - n
	}
	return out
}

func listed(m *magazine) (out []*magazine) {
	for ; m != nil; m = m.next {
		out = append(out, m)
	}
	return out
}

// The depot has what was put and not taken, the youngest first, and within its bound. An idle reclaim takes as many
// magazines as were there all the time since the last one.
func TestDepotLikeAModel(t *testing.T) {
	const most = 3000
	d, r := depot{classes: make([]depotClass, 2)}, rand.New(rand.NewPCG(9, 1))
	var want modelDepot
	for step := range 5000 {
		class := r.IntN(2)
		list := &want.full[class]
		switch k := r.IntN(40); {
		case k < 16:
			m := &magazine{n: 1 + r.Int32N(magazineSlots), class: int32(class)}
			_, bytes := want.usage()
			fits := bytes+int64(m.n)*ofClass(class) <= most
			if d.put(m, ofClass(class), most) != fits {
				t.Fatalf("step %d: put %t with %d bytes of %d", step, !fits, bytes, most)
			}
			if fits {
				*list = append(*list, m)
			}
		case k < 32:
			var top *magazine
			if n := len(*list); n > 0 {
				top, *list = (*list)[n-1], (*list)[:n-1]
				want.least[class] = min(want.least[class], n-1)
			}
			if m := d.take(class, ofClass(class)); m != top || m != nil && m.next != nil {
				t.Fatalf("step %d: took another magazine", step)
			}
		case k < 34: // whatever the bound is
			a, b := &magazine{n: 3, class: 0}, &magazine{n: 2, class: 1}
			a.next = &magazine{n: 0, class: 1, next: b}
			d.restore(a, ofClass)
			want.full[0], want.full[1] = append(want.full[0], a), append(want.full[1], b)
		case k < 37:
			got, idle := listed(d.reclaim(k < 36, ofClass, nil)), want.reclaim(k < 36)
			for _, m := range idle {
				if !slices.Contains(got, m) {
					t.Fatalf("step %d: a reclaim took another magazine", step)
				}
			}
			if len(got) != len(idle) {
				t.Fatalf("step %d: a reclaim took %d magazines, want %d", step, len(got), len(idle))
			}
		}
		blocks, bytes := want.usage()
		n, sum := d.usage(func(class int, _ *magazine, n int32) int64 { return int64(n) * ofClass(class) })
		if n != blocks || sum != bytes || d.bytes.Load() != bytes {
			t.Fatalf("step %d: %d blocks, %d bytes, %d counted, want %d and %d", step, n, sum, d.bytes.Load(), blocks, bytes)
		}
		for class, list := range want.full {
			if d.has(class) != (len(list) > 0) || int(d.classes[class].have.Load()) != len(list) {
				t.Fatalf("step %d: class %d has %d magazines, want %d", step, class, d.classes[class].have.Load(), len(list))
			}
		}
	}
}

// An empty magazine is used again, the last one first, until a reclaim: then there are none.
func TestEmptyMagazinesAreUsedAgain(t *testing.T) {
	d := depot{classes: make([]depotClass, 2)}
	a, b := &magazine{n: 3, class: 1}, &magazine{n: 4, class: 1}
	d.recycle(a)
	d.recycle(b)
	if m := d.emptyMagazine(0); m == a || m == b || m.class != 0 {
		t.Error("a magazine went to another class")
	}
	for _, want := range []*magazine{b, a} {
		if m := d.emptyMagazine(1); m != want || m.n != 0 || m.next != nil {
			t.Errorf("another magazine than the last one, or %d blocks in it", m.n)
		}
	}
	d.recycle(a)
	d.reclaim(true, aByte, nil)
	if m := d.emptyMagazine(1); m == a || m.class != 1 {
		t.Error("a magazine outlives a reclaim")
	}
}
