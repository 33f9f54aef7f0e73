package percpu

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
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
		s.cpus[i].empty.check(0, 0)
		s.cpus[i].mustAgree()
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
		p.swap(class)
		room := s.makeRoom(p, class, budget{1 << 20, 1 << 20})
		p.victim = class - 1
		other := p.shrinkOther(class + 1)
		left := p.put(class, m, budget{1 << 20, 1 << 20})
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

// Of a class that is only released, a class cache keeps up to two magazines as far as its budget goes, and the depot
// whole magazines. The rest goes back.
func TestWhatIsReleasedFillsTheBudgets(t *testing.T) {
	const size, m = 1024, magazineSlots
	for _, c := range []struct{ cache, depot, want int64 }{
		{0, 9 * m, 0},
		{1, 0, 1},
		{20, 0, 20},
		{m, 0, m},
		{2*m - 1, 0, m},
		{2 * m, 0, 2 * m},
		{9 * m, 0, 2 * m},
		{m, m - 1, m},
		{m, m, 2 * m},
		{m, 2*m - 1, 2 * m},
		{2 * m, m, 3 * m},
		{2 * m, 3 * m, 5 * m},
		{9 * m, 2 * m, 4 * m},
	} {
		s := oneCPU(t, Options{Largest: size, Bytes: c.cache * size, Depot: c.depot * size})
		burst(t, s, 7*m, size)
		if n := s.Usage().Blocks; n != c.want || int64(s.freed) != 7*m-c.want {
			t.Errorf("%d and %d blocks fit, %d are there, want %d", c.cache, c.depot, n, c.want)
		}
		s.checkMagazines()
		made := s.made
		for range c.want {
			s.get(t, size)
		}
		if s.made != made || s.Usage().Blocks != 0 {
			t.Errorf("%d and %d blocks fit, %d serve no Get", c.cache, c.depot, s.Usage().Blocks)
		}
	}
}

// Beyond its share a class keeps what it has earned: as many blocks, of which a previous magazine is a part.
func TestWhatIsEarnedIsKept(t *testing.T) {
	const size, m = 1024, magazineSlots
	for earned, want := range map[int32]int64{0: 0, 1: 1, 20: 20, m: m, 2*m - 1: m, 2 * m: 2 * m, 9 * m: 2 * m} {
		s := oneCPU(t, Options{Largest: size, Bytes: 1 << 20, Divisor: 1, Managed: func() int64 { return 0 }})
		s.wants.earned[s.Class(size)].Store(earned)
		if burst(t, s, 7*m, size); s.Usage().Blocks != want {
			t.Errorf("%d blocks earned, %d kept, want %d", earned, s.Usage().Blocks, want)
		}
		s.checkMagazines()
	}
}

// The block at hand is taken only if it is too short.
func TestOnlyAShortBlockIsTaken(t *testing.T) {
	s := oneCPU(t, Options{Largest: 1 << 10, Bytes: 1 << 20, ExactAbove: 500})
	burst(t, s, 2, 1000)
	p, class := &s.cpus[0], s.Class(1000)
	if e := p.takeShort(class, 1000); e.Slot != nil || p.caches[class].n() != 2 {
		t.Error("a block of 1000 bytes is too short for 1000")
	}
	if e := p.takeShort(class, 1001); e.Slot == nil || e.Slot.Len() != 1000 || p.caches[class].n() != 1 {
		t.Error("a block of 1000 bytes is long enough for 1001")
	}
	s.checkMagazines()
}

// A program that gets and releases as many blocks again and again moves magazines, and makes none: those that a Get
// empties serve the next Release, also where some of the blocks go through the depot.
func TestASwingMakesNoMagazines(t *testing.T) {
	const size = 1024
	for _, n := range []int{magazineSlots + 1, 2 * magazineSlots, 4 * magazineSlots, 5*magazineSlots + 1} {
		s := oneCPU(t, Options{Largest: size, Bytes: 2 * magazineSlots * size, Depot: 4 * magazineSlots * size, Replayed: true})
		live := make([]handle.Entry, n)
		swing := func() {
			for i := range live {
				live[i] = s.get(t, size)
			}
			for _, e := range live {
				s.release(e, size)
			}
		}
		swing()
		if allocs := check.Allocs(20, swing); allocs != 0 || s.made != n {
			t.Errorf("%d blocks: %v allocations, %d blocks were made", n, allocs, s.made)
		}
	}
}

// Keep has a block in the caches if it says so: one that Release has tried before, and one of streams, which it has not;
// where the class cache has room, and where it makes room first.
func TestWhatIsKeptIsThere(t *testing.T) {
	s := oneCPU(t, Options{Largest: 1 << 10, Bytes: 1 << 20})
	for i := range 5 {
		for _, streams := range []bool{false, true} {
			e := s.get(t, 1000)
			if streams {
				e.Slot.SetStreamed()
			}
			var others []handle.Entry
			for range i {
				others = append(others, s.get(t, 1000))
			}
			for _, o := range others {
				s.release(o, 1000)
			}
			held := s.Usage().Blocks
			if e.Slot.End(e.Slot.Generation()); !s.Keep(e, 1000) || s.Usage().Blocks != held+1 {
				t.Errorf("streams %t: %d blocks, then %d", streams, held, s.Usage().Blocks)
			}
			if got := s.get(t, 1000); got != e {
				t.Errorf("streams %t: a Get has another block", streams)
			}
			s.ReclaimLimits()
		}
	}
}
