package percpu

import (
	"slices"
	"testing"
	"time"

	"github.com/bufslab/bufslab/slab/internal/handle"
)

// program opens a cache of one processor that gives little for the asking, by the clock of a replay:
// a program that uses all that it gets.
func program(t *testing.T, o Options) *store {
	o.Divisor, o.Replayed, o.Processors, o.Miss = 1<<20, true, 1, 100*time.Nanosecond
	o.Managed = func() int64 { return 1 << 20 }
	return oneCPU(t, o)
}

// pass gets n blocks and releases them, some times.
func (s *store) pass(t *testing.T, times, n, size int) {
	for range times {
		var live []handle.Entry
		for range n {
			live = append(live, s.get(t, size))
		}
		for _, e := range live {
			s.release(e, size)
		}
	}
}

// A class for which the share is too small has a block when Gets have asked often enough for what
// the strategy was given, more where more is asked for, and never more than the most. It has that
// again once it was emptied and is used.
func TestBlocksAreEarned(t *testing.T) {
	const size = 16 << 10
	s := program(t, Options{Largest: size, Bytes: 3 * size, Depot: 1})
	k := s.At(0, s.Class(size))
	if s.pass(t, lookEvery/4, 4, size); k.limit.Load() != 0 {
		t.Errorf("%d blocks for %d Gets", k.limit.Load(), lookEvery-4)
	}
	if s.pass(t, 2, 4, size); k.limit.Load() != 1 {
		t.Errorf("%d blocks for %d Gets", k.limit.Load(), lookEvery+4)
	}
	if s.pass(t, 100, 4, size); k.limit.Load()+k.nprevious != 3 {
		t.Errorf("%d blocks within a budget of 3", k.limit.Load()+k.nprevious)
	}
	if s.Reclaim(false); k.limit.Load() != 0 {
		t.Errorf("a reclaim leaves %d blocks", k.limit.Load())
	}
	if s.pass(t, 1, 4, size); k.limit.Load()+k.nprevious != 3 {
		t.Errorf("%d blocks after a round, want 3 as before the reclaim", k.limit.Load()+k.nprevious)
	}
}

// A program that uses 4 MiB at a time does not ask for them often enough.
func TestALargeBlockIsNotEarned(t *testing.T) {
	const size = 4 << 20
	s := program(t, Options{Largest: size, Bytes: 3 * size, Depot: 3 * size})
	if s.pass(t, 100, 2, size); s.Usage().Blocks != 0 {
		t.Errorf("%d blocks cached", s.Usage().Blocks)
	}
}

// What is only released earns nothing, and what is asked for more often than it was refused earns
// no more than that.
func TestReleasesAloneEarnNothing(t *testing.T) {
	s := program(t, Options{Largest: 4 << 10, Bytes: 1 << 20, Depot: 1 << 20})
	class := s.Class(100)
	s.Refused(class, 10*lookEvery)
	if s.wants.earned[class].Load() != 0 {
		t.Error("a class has earned by releases")
	}
	for range lookEvery - 1 {
		s.Missed(class)
	}
	s.wants.demands[class].refused = 0
	if s.Missed(class); s.wants.earned[class].Load() != 0 {
		t.Error("a Get counts that no refused block could have served")
	}
	s.Refused(class, 1)
	if s.Missed(class); s.wants.earned[class].Load() != 1 {
		t.Errorf("a class has earned %d, want 1", s.wants.earned[class].Load())
	}
	s.Missed(s.Uncached()) // is for no class
	s.Refused(s.Uncached(), 1)
}

// While class caches are closed, for a reclaim or until Start, all blocks go to the strategy and all Gets come from
// there. That earns nothing.
func TestClosedCachesEarnNothing(t *testing.T) {
	s := program(t, Options{Largest: 4 << 10, Bytes: 1 << 20, Depot: 1 << 20})
	class := s.Class(100)
	ask := func() int32 {
		s.Refused(class, lookEvery)
		for range lookEvery {
			s.Missed(class)
		}
		return s.wants.earned[class].Load()
	}
	s.Stop()
	if n := ask(); n != 0 {
		t.Errorf("a class has earned %d", n)
	}
	s.Start()
	if n := ask(); n != 1 {
		t.Errorf("a class has earned %d once open, want 1", n)
	}
}

// A class that asks far too seldom loses what it has earned, step by step.
func TestWhatIsAskedForSeldomIsLost(t *testing.T) {
	s := program(t, Options{Largest: 4 << 10, Bytes: 1 << 20, Depot: 1 << 20})
	class := s.Class(100)
	ask := func(bytes int64) int32 {
		s.Refused(class, lookEvery)
		for range lookEvery {
			s.Missed(class)
		}
		s.counts.Got += bytes // time goes by
		return s.wants.earned[class].Load()
	}
	for range 20 {
		ask(0)
	}
	earned := s.wants.earned[class].Load()
	if earned < 20 {
		t.Fatalf("a class has earned %d", earned)
	}
	ask(8e11) // a minute or two
	if n := ask(0); n >= earned {
		t.Errorf("a class has earned %d, %d before", n, earned)
	}
	for range 30 {
		ask(8e11)
	}
	if n := ask(0); n > 1 {
		t.Errorf("a class has earned %d still", n)
	}
}

// Where the budget is full, a class that has earned a block takes the room of another.
func TestAFullBudgetIsForWhatIsEarned(t *testing.T) {
	const old, size = 4 << 10, 2 << 10
	s := oneCPU(t, Options{Largest: old, Bytes: 4 * old, Depot: 1})
	full, k := s.At(0, s.Class(old)), s.At(0, s.Class(size))
	s.pass(t, 4, 4, old)
	if s.pass(t, 1, 1, size); full.n() != 4 || k.n() != 0 {
		t.Errorf("%d blocks are left, and %d new ones there", full.n(), k.n())
	}
	s.wants.earned[s.Class(size)].Store(1)
	if s.pass(t, 1, 1, size); full.n() != 0 || k.n() != 1 {
		t.Errorf("%d blocks are left, and %d new ones there", full.n(), k.n())
	}
	s.pass(t, 2, 3, old)
	s.wants.earned[s.Class(size)].Store(3)
	s.pass(t, 1, 2, size)
	s.cpus[0].victim = s.Class(size) - 1 // it would be its own
	if s.pass(t, 1, 3, size); full.n() != 0 || k.n() != 3 {
		t.Errorf("%d blocks are left, and %d new ones there", full.n(), k.n())
	}
	s.checkMagazines()
}

// The depot has magazines beyond the share for a class that has earned as many blocks, and none
// above the most.
func TestDepotIsEarned(t *testing.T) {
	s := program(t, Options{Largest: 4 << 10, Bytes: 1 << 20, Depot: 2 * magazineSlots * 1024})
	class := s.Class(1024)
	for earned, want := range []bool{false, false, true} {
		s.wants.earned[class].Store(int32(earned * magazineSlots / 2))
		if s.depotTakes(class, magazineSlots) != want {
			t.Errorf("the depot takes a magazine of a class that has earned %d blocks: %v", earned*magazineSlots/2, !want)
		}
	}
	s.wants.earned[class].Store(100 * magazineSlots)
	if s.depotTakes(class, 2*magazineSlots+1) {
		t.Error("the depot takes more than the most")
	}
}

// What a processor may hold for the asking grows with what is managed, from a least and up to
// the most.
func TestBudgetGrowsWithWhatIsManaged(t *testing.T) {
	var managed int64
	s := openStore(t, Options{Largest: 4 << 10, Bytes: 1 << 20, Depot: 1 << 21, Divisor: 4, Least: LeastBytes, Managed: func() int64 { return managed }})
	shares := 4 * int64(len(s.cpus)+1)
	for _, c := range [][2]int64{{0, LeastBytes}, {shares * LeastBytes * 2, LeastBytes * 2}, {1 << 50, 1 << 20}} {
		managed = c[0]
		if b := s.options.budget(1 << 20); b.share != c[1] || b.most != 1<<20 {
			t.Errorf("%d bytes managed: %+v, want a share of %d", managed, b, c[1])
		}
	}
}

// Of a block above shareBytes none is for the asking.
func TestTheShareIsForSmallBlocks(t *testing.T) {
	for size, want := range map[int]int64{shareBytes: 1, 2 * shareBytes: 0} {
		s := oneCPU(t, Options{Largest: 2 * shareBytes, Bytes: 1 << 20, Depot: 1, Divisor: 1, Managed: func() int64 { return 1 << 30 }})
		if s.pass(t, 2, 1, size); s.Usage().Blocks != want {
			t.Errorf("%d blocks of %d bytes cached, want %d", s.Usage().Blocks, size, want)
		}
	}
}

// A class may have what the share has room for, and beyond that, within the most, as many blocks as it has earned, of
// which those of its previous magazine are some. What is refused, as the class cache was closed or has another limit by
// now, is not counted.
func TestAGrantIsWithinTheBudget(t *testing.T) {
	const size = 1 << 10
	for _, c := range []struct {
		granted, limit, to, previous, earned int32
		share, most                          int64 // blocks
		want                                 bool
	}{
		{granted: 0, limit: 0, to: 4, share: 4, most: 4, want: true},
		{granted: 0, limit: 0, to: 5, share: 4, most: 9, want: false},
		{granted: 5, limit: 2, to: 4, share: 7, most: 7, want: true},
		{granted: 5, limit: 2, to: 4, share: 6, most: 9, want: false},
		{granted: 5, limit: 2, to: 4, share: 6, most: 9, earned: 4, want: true},
		{granted: 5, limit: 2, to: 4, share: 6, most: 9, earned: 3, want: false},
		{granted: 5, limit: 2, to: 4, share: 6, most: 6, earned: 9, want: false},
		{granted: 5, limit: 2, to: 3, previous: 3, share: 0, most: 9, earned: 6, want: true},
		{granted: 5, limit: 2, to: 3, previous: 3, share: 0, most: 9, earned: 5, want: false},
		{granted: 5, limit: 2, to: 2, share: 5, most: 9, want: true},
	} {
		for _, now := range []int32{c.limit, ^c.limit, c.limit + 1} {
			s := oneCPU(t, Options{Largest: size, Bytes: 1 << 20})
			p, class := &s.cpus[0], s.Class(size)
			k := &p.caches[class]
			p.granted, k.nprevious = int64(c.granted)*size, c.previous
			k.limit.Store(now)
			s.wants.earned[class].Store(c.earned)
			want, limit, granted := c.want && now == c.limit, now, p.granted
			if want {
				limit, granted = c.to, granted+int64(c.to-c.limit)*size
			}
			ok := p.grant(class, c.limit, c.to, budget{c.share * size, c.most * size})
			if ok != want || k.limit.Load() != limit || p.granted != granted {
				t.Errorf("%+v with a limit of %d: %t, then %d, %d bytes granted", c, now, ok, k.limit.Load(), p.granted)
			}
		}
	}
}

// The limit of a class cache begins with a block and doubles up to a magazine, or as far as the share goes, and then has
// a block more at a time.
func TestALimitDoublesWithinTheShare(t *testing.T) {
	const size = 1 << 10
	for share, want := range map[int64][]int32{
		100: {1, 2, 4, 8, 16, 32},
		16:  {1, 2, 4, 8, 16},
		17:  {1, 2, 4, 8, 16, 17},
		6:   {1, 2, 4, 5, 6},
		0:   {},
	} {
		s := oneCPU(t, Options{Largest: size, Bytes: 1 << 20})
		p, class := &s.cpus[0], s.Class(size)
		var got []int32
		limit := &p.caches[class].limit
		for limit.Load() < magazineSlots && p.grow(class, limit.Load(), budget{share * size, 1 << 20}) {
			got = append(got, limit.Load())
		}
		if !slices.Equal(got, want) {
			t.Errorf("a share of %d blocks: limits of %v, want %v", share, got, want)
		}
	}
}
