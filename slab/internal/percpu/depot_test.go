package percpu

import (
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
