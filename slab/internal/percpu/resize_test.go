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
