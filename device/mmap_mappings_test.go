//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris

package device

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bufslab/bufslab/internal/check"
)

// A table is a process that has some mappings, and may have most.
type table struct {
	has, most int64
	counts    int
}

func (x *table) budget() *mappingBudget {
	return &mappingBudget{
		most:  func() (int64, bool) { return x.most, x.most > 0 },
		count: func() (int64, bool) { x.counts++; return x.has, true },
	}
}

// take takes n mappings if it may.
func (x *table) take(b *mappingBudget, n int64) error {
	err := b.take(n)
	if err == nil {
		x.has += n
	}
	return err
}

// The last mappings are not for us, whether regions or others have the rest, and what comes back is.
func TestMappingBudget(t *testing.T) {
	x := &table{has: 10_000, most: 65_530}
	b := x.budget()
	for x.take(b, 2) == nil {
	}
	if left := x.most - x.has; left < spare(x.most) || left > spare(x.most)+2 {
		t.Errorf("%d mappings are left, %d should be", left, spare(x.most))
	}
	if x.counts > 20 {
		t.Errorf("the process was counted %d times", x.counts)
	}
	err := x.take(b, 2)
	check.Wraps(t, err, ErrOutOfMemory)
	if !strings.Contains(err.Error(), "65530 mappings") || !strings.Contains(err.Error(), "last 1310") {
		t.Error(err)
	}
	b.give(100)
	x.has -= 100
	if err := x.take(b, 98); err != nil {
		t.Error(err)
	}
	check.Wraps(t, x.take(b, 10), ErrOutOfMemory)
}

// Some are left to the runtime, and never more than half of few.
func TestSpare(t *testing.T) {
	for most, want := range map[int64][2]int64{
		0: {0, 0}, 100: {1, 50}, 2000: {100, 1000}, 65_530: {1000, 2000}, 1 << 30: {1000, 1 << 26},
	} {
		if n := spare(most); n < want[0] || n > want[1] {
			t.Errorf("%d of %d are left to the runtime", n, most)
		}
	}
}

// A refusal is good for a while: the process is not counted for each, unless some came back.
func TestRefusalsDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // whose clock stands still
		for _, over := range []int64{0, 1, 5} {
			x := &table{most: 65_530}
			x.has = x.most - spare(x.most) + over
			b := x.budget()
			for range 10 {
				check.Wraps(t, x.take(b, 2), ErrOutOfMemory)
			}
			if x.counts != 1 || b.own.Load() != 0 {
				t.Errorf("%d mappings too many: the process was counted %d times, own are %d", over, x.counts, b.own.Load())
			}
		}
	})
}

// Others take mappings, too: that is noticed soon, also when they are back.
func TestMappingBudgetSeesOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &table{has: 100, most: 65_530}
		b := x.budget()
		check.Must(t, x.take(b, 2))
		x.has = 65_000
		time.Sleep(time.Minute)
		check.Wraps(t, x.take(b, 2), ErrOutOfMemory)
		x.has = 100
		time.Sleep(time.Minute)
		check.Must(t, x.take(b, 2))
	})
}

// A count that takes long is good for longer: for a hundred times as long as it took.
func TestASlowCountIsRare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := &table{has: 60_000, most: 65_530}
		b := x.budget()
		b.count = func() (int64, bool) { x.counts++; time.Sleep(time.Second); return x.has, true }
		check.Must(t, x.take(b, 2))
		time.Sleep(98 * time.Second)
		if check.Must(t, x.take(b, 2)); x.counts != 1 {
			t.Errorf("%d counts within a hundred seconds", x.counts)
		}
		time.Sleep(2 * time.Second)
		if check.Must(t, x.take(b, 2)); x.counts != 2 {
			t.Errorf("%d counts after a hundred seconds", x.counts)
		}
	})
}

// Where the system does not say how many there may be, there is no bound.
func TestMappingBudgetUnknown(t *testing.T) {
	x := &table{}
	b := x.budget()
	for range 1000 {
		check.Must(t, x.take(b, 1000))
	}
}

// A region gives back what it counts for, also after it was cut into pieces.
func TestRegionsGiveMappingsBack(t *testing.T) {
	d := opened(t, "mmap")
	before := mappings.own.Load()
	b := check.Ok(d.Alloc(16 * page))(t)
	q := b.Region.(Quarantiner)
	check.Must(t, q.Quarantine(page, page), q.Quarantine(3*page+1, 2*page-2), q.Quarantine(5*page, 0)) // no page in the last two
	g := check.Ok(d.(Reserver).Reserve(leastRange))(t)
	check.Must(t, g.Commit(32<<20, page), g.Region().(Shrinker).GiveUp(48<<20, page))
	if n := mappings.own.Load() - before; n != 2*regionMappings+5 {
		t.Errorf("%d mappings are counted", n)
	}
	d.Free(b)
	check.Must(t, g.Close())
	if n := mappings.own.Load(); n != before {
		t.Errorf("%d mappings are counted of regions that are gone", n-before)
	}
}
