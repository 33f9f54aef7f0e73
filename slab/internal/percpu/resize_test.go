package percpu

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/bufslab/bufslab/slab/internal/handle"
)

// oneCPU opens a cache of one processor, and keeps the test on it.
func oneCPU(t *testing.T, o Options) *store {
	n := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(n) })
	onlyNumber0(t)
	s := openStore(t, o)
	s.cpus = s.cpus[:1] // where goroutines take turns by a lock, too
	return s
}

// checkMagazines finds entries that a magazine has beyond its blocks, which would never
// be found forgotten, and budgets that do not add up.
func (s *store) checkMagazines() {
	for i := range s.depot.classes {
		for m := s.depot.classes[i].full.Load(); m != nil; m = m.next {
			m.check(i, m.n)
		}
		for m := s.depot.classes[i].empty; m != nil; m = m.next {
			m.check(i, 0)
		}
	}
	for i := range s.cpus {
		p := &s.cpus[i]
		p.empty.check(0, 0)
		var granted int64
		for class := range p.caches {
			k := &p.caches[class]
			k.loaded.check(class, k.n())
			k.previous.check(class, k.nprevious)
			granted += int64(k.limit.Load()+k.nprevious) * s.BlockBytes(class)
		}
		if granted != p.granted {
			panic("what was granted does not add up")
		}
	}
}

func TestMagazinesHaveWhatTheySay(t *testing.T) {
	s := openStore(t, Options{Largest: 32 << 10, Bytes: 100_000, Depot: 50_000})
	r := rand.New(rand.NewPCG(3, 9))
	for round := range 300 {
		size := 1 + r.IntN(20_000)
		var live []handle.Entry
		for range 1 + r.IntN(60) {
			live = append(live, s.get(t, size))
		}
		for _, e := range live {
			s.release(e, size)
		}
		if s.checkMagazines(); round%50 == 49 {
			s.Reclaim(round%100 == 49)
			s.checkMagazines()
		}
	}
}

// While the class caches are closed no slow path changes them: they belong to the one
// who has closed them.
func TestNothingChangesWhatIsClosed(t *testing.T) {
	s := oneCPU(t, Options{Largest: 4 << 10, Bytes: 1 << 20, Depot: 1 << 20})
	class := s.Class(100)
	k := s.At(0, class)
	k.loaded, k.previous = &magazine{}, &magazine{}
	e := s.get(t, 100)
	for _, state := range []struct{ loaded, previous int32 }{{0, 3}, {2, 0}} {
		k.setN(state.loaded)
		k.nprevious = state.previous
		k.limit.Store(2)
		s.close()
		before := [...]any{k.loaded, k.previous, k.state, k.nprevious, k.limit.Load()}
		m := &magazine{n: 1, class: int32(class)}
		on := s.Pin()
		p := s.cpu(on.ID())
		s.swap(p, class)
		room := s.makeRoom(p, class, flat(1<<20))
		p.victim = class - 1
		other := s.shrinkOther(p, class+1)
		left := p.install(class, m, s.BlockBytes(class), flat(1<<20))
		kept := k.Push(e, 100) || k.pop(100).Slot != nil
		p.leave()
		s.Unpin(on)
		after := [...]any{k.loaded, k.previous, k.state, k.nprevious, k.limit.Load()}
		if room != nil || other != nil || left != m || kept || after != before {
			t.Errorf("%v became %v, room %v, other %v, left %v, kept %v", before, after, room, other, left, kept)
		}
		s.open()
	}
}

// Blocks that a class cache has got meanwhile are not lost to a magazine from the depot.
func TestInstallLeavesBlocks(t *testing.T) {
	s := oneCPU(t, Options{Largest: 4 << 10, Bytes: 1 << 20, Depot: 1 << 20})
	e := s.get(t, 100)
	s.release(e, 100)
	m := &magazine{n: 1, class: int32(e.Slot.Class())}
	if left := s.install(e.Slot.Class(), m); left != m {
		t.Errorf("a magazine was installed over a block: %v is left", left)
	}
	if got := s.get(t, 100); got != e {
		t.Error("the block is gone")
	}
}

// A previous magazine that becomes the loaded one is not in the budget any more.
func TestSwapEndsAGrant(t *testing.T) {
	s := oneCPU(t, Options{Largest: 4 << 10, Bytes: 1 << 20, Depot: 1 << 20})
	var live []handle.Entry
	for range 2 * magazineSlots {
		live = append(live, s.get(t, 100))
	}
	for _, e := range live {
		s.release(e, 100)
	}
	k := s.At(0, s.Class(100))
	if k.nprevious == 0 {
		t.Fatal("there is no previous magazine")
	}
	for range live {
		s.get(t, 100)
	}
	if k.nprevious != 0 {
		t.Errorf("%d blocks are left", k.nprevious)
	}
	s.checkMagazines()
}

// The largest class borrows of none: what is behind it is another processor's.
func TestNothingIsAboveTheLargestClass(t *testing.T) {
	s := openStore(t, Options{Largest: 4 << 10, Bytes: 1 << 20, Borrow: 3, BorrowAbove: 1000, Processors: 2})
	other := &s.cpus[1].caches[0]
	other.nprevious = 1
	on := s.Pin()
	e, _ := s.Retry(0, s.classes-1, 4<<10)
	s.Unpin(on)
	if e.Slot != nil || other.nprevious != 1 {
		t.Errorf("%v, and the other processor has %d", e, other.nprevious)
	}
}

// A processor that a Cache does not know has no class caches: what it is given keeps nothing,
// and serves nothing.
func TestAProcessorTooManyHasNoCache(t *testing.T) {
	s := openStore(t, Options{Largest: 4 << 10, Bytes: 1 << 20})
	n := len(s.cpus)
	if s.At(n-1, s.classes-1) != &s.caches[len(s.caches)-1] || s.cpu(n) != nil {
		t.Error("the last processor has not the last cache, or one too many has some")
	}
	k := s.At(n, 0)
	e := s.get(t, 100)
	if k != s.At(n+1, s.classes-1) || k.Push(e, 100) || k.Enter() {
		t.Error("a processor too many has a cache that keeps a block")
	}
	k.Leave()
	if e, _ := s.Retry(n, 0, 100); e.Slot != nil {
		t.Error("a processor too many has a block")
	}
	s.release(e, 100)
}

// What a processor may not hold goes to the depot, where others find it; to a strategy that
// merges it goes at once.
func TestWhatIsRefusedGoesToTheDepot(t *testing.T) {
	const size = 4 << 10
	for _, merges := range []bool{false, true} {
		s := oneCPU(t, Options{Largest: size, Bytes: 1 << 20, Depot: 1 << 20, Divisor: 1 << 20, Least: 2 * size, Merges: merges, Managed: func() int64 { return 1 << 20 }})
		var live []handle.Entry
		for range 9 {
			live = append(live, s.get(t, size))
		}
		for _, e := range live {
			s.release(e, size)
		}
		if s.cpus[0].granted > 2*size {
			t.Errorf("merges %v: a processor may hold %d bytes of %d", merges, s.cpus[0].granted, 2*size)
		}
		if blocks, _ := s.depot.usage(); merges && blocks != 0 || !merges && (blocks < 7 || s.freed != 0) {
			t.Errorf("merges %v: %d blocks in the depot, %d freed", merges, blocks, s.freed)
		}
		s.checkMagazines()
	}
}

// Where the budget is full, a class takes the room of another once for as many refusals as the
// block costs: it does not starve, nor do two classes in use empty each other all the time.
func TestAFullBudgetIsNotTakenAtOnce(t *testing.T) {
	const old, size = 4 << 10, 2 << 10
	s := oneCPU(t, Options{Largest: old, Bytes: 4 * old, Depot: 1})
	pass := func(n int) { // gets n blocks, and releases them
		var live []handle.Entry
		for range n {
			live = append(live, s.get(t, old))
		}
		for _, e := range live {
			s.release(e, old)
		}
	}
	full, k := s.At(0, s.Class(old)), s.At(0, s.Class(size))
	b := flat(s.options.Bytes)
	pass(4)
	for range b.price(5, old) { // there is no other class
		if pass(5); full.limit.Load() != 4 {
			t.Fatalf("after %d refusals it may have %d blocks", full.refused, full.limit.Load())
		}
	}
	if pass(4); full.n() != 4 || int64(full.refused) < b.price(5, old) {
		t.Fatalf("%d blocks of %d bytes fill the budget, after %d refusals", full.n(), old, full.refused)
	}
	price := b.price(1, size)
	for range price - 1 {
		s.release(s.get(t, size), size)
	}
	if full.n() != 4 || k.n() != 0 {
		t.Errorf("after %d refusals %d blocks are left, and %d new ones there", k.refused, full.n(), k.n())
	}
	if s.release(s.get(t, size), size); full.n() != 0 || k.n() != 1 {
		t.Errorf("after %d refusals %d blocks are left, and %d new ones there", k.refused, full.n(), k.n())
	}
	s.checkMagazines()
}

// A block of a larger class serves only from BorrowAbove bytes on, and up to Borrow classes above.
func TestLargerBlocksServeLargeSizes(t *testing.T) {
	s := oneCPU(t, Options{Largest: 32 << 10, Bytes: 1 << 20, Borrow: 3, BorrowAbove: 1000})
	for _, c := range []struct {
		size, cached int
		want         bool
	}{{900, 1100, false}, {1000, 1100, false}, {1100, 1500, true}, {1100, 2048, true}, {1100, 2100, false}, {1100, 3000, false}} {
		s.release(s.get(t, c.cached), c.cached)
		e, _ := s.RetryPinned(s.Class(c.size), c.size)
		if e.Slot != nil != c.want {
			t.Errorf("%d bytes for %d: %v", c.cached, c.size, e.Slot != nil)
		}
		s.Reclaim(false)
	}
}

// inDepot puts a block of size bytes into the depot.
func (s *store) inDepot(t *testing.T, size int) handle.Entry {
	e := s.get(t, size)
	m := &magazine{n: 1, class: int32(e.Slot.Class())}
	m.entries[0] = e
	s.depot.push(m, s.BlockBytes(e.Slot.Class()))
	return e
}

// The depot lends a larger block where the processor could: of its own class first, then of
// the nearest.
func TestTheDepotLendsLargerBlocks(t *testing.T) {
	s := oneCPU(t, Options{Largest: 32 << 10, Bytes: 1 << 20, Depot: 1 << 20, Borrow: 3, BorrowAbove: 1000})
	for _, c := range []struct {
		size int
		in   []int // the depot
		want int   // which of them
	}{
		{900, []int{1100}, -1}, {1100, []int{2100}, -1}, {1100, []int{2048}, 0}, {1100, []int{2048, 1500}, 1},
		{1100, []int{1500, 1100}, 1}, {32 << 10, []int{20_000}, -1},
	} {
		var in []handle.Entry
		for _, size := range c.in {
			in = append(in, s.inDepot(t, size))
		}
		e, _ := s.Refill(s.Class(c.size), c.size)
		if want := append(in, handle.Entry{})[max(c.want, 0)]; c.want < 0 && e.Slot != nil || c.want >= 0 && e != want {
			t.Errorf("%d bytes of %d: %v", c.size, c.in, e)
		}
		s.Reclaim(false)
		s.checkMagazines()
	}
	s.options.Merges = true
	s.inDepot(t, 1500)
	if e, _ := s.Refill(s.Class(1100), 1100); e.Slot != nil {
		t.Errorf("before a strategy that merges it lends %d bytes for 1100", e.Slot.Len())
	}
}

// A block of the depot comes before a larger one of the processor, which its own class would
// miss; but for a strategy that merges, whose blocks are only as long as was asked.
func TestTheOwnClassComesFirst(t *testing.T) {
	for _, merges := range []bool{false, true} {
		s := oneCPU(t, Options{Largest: 32 << 10, Bytes: 1 << 20, Depot: 1 << 20, Borrow: 3, BorrowAbove: 1000, Merges: merges})
		larger := s.get(t, 1500)
		own := s.inDepot(t, 1100)
		s.release(larger, 1500)
		want := own
		if merges {
			want = larger
		}
		if e := s.get(t, 1100); e != want {
			t.Errorf("merges %v: a block of %d bytes for 1100", merges, e.Slot.Len())
		}
	}
}
