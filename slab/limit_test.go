package slab

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/internal/upstreamtest"
)

func TestLimitRefusesWithNumbers(t *testing.T) {
	up := &source{}
	l := NewLimit(up, 4096)
	mustAlloc(t, l, 4000)
	_, err := l.Alloc(512)
	var full *LimitError
	if !errors.As(err, &full) || *full != (LimitError{4096, 4000, 512, 0, l}) || !errors.Is(err, device.ErrOutOfMemory) {
		t.Fatal(err)
	}
	if want := "slab: limit of 4096 bytes, 4000 in use, 512 asked: out of memory"; err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if up.Calls != 1 {
		t.Errorf("%d calls upstream", up.Calls)
	}
	mustAlloc(t, l, 96)
}

func TestLimitCountsWholeRegions(t *testing.T) {
	l := NewLimit(upstreamtest.Device{Source: &source{Round: 4096}}, 8192)
	b := mustAlloc(t, l, 100)
	if l.InUse() != 4096 {
		t.Errorf("%d in use for a page", l.InUse())
	}
	l.Free(b)
	if l.InUse() != 0 {
		t.Errorf("%d in use for nothing", l.InUse())
	}
}

func TestLimitGivesARegionBackThatIsTooLarge(t *testing.T) {
	up := &source{Round: 4096}
	l := NewLimit(upstreamtest.Device{Source: up}, 4000)
	if _, err := l.Alloc(100); !errors.Is(err, device.ErrOutOfMemory) || up.Bytes != 0 || l.InUse() != 0 {
		t.Errorf("%v, %d in use, %d upstream", err, l.InUse(), up.Bytes)
	}
}

func TestLimitOfNothingAllowsNothing(t *testing.T) {
	for _, max := range []int64{0, -1} {
		if _, err := NewLimit(&source{}, max).Alloc(1); !errors.Is(err, device.ErrOutOfMemory) {
			t.Errorf("limit of %d: %v", max, err)
		}
	}
}

func TestLimitIsAsBeforeWhenUpstreamRefusesABlock(t *testing.T) {
	l := NewLimit(&source{}, 1000)
	b := mustAlloc(t, l, 100)
	wantPanic(t, "upstreamtest: Free of a block that is not out, 99 bytes at offset 0", func() { l.Free(device.Block{Region: b.Region, Len: 99}) })
	if l.InUse() != 100 {
		t.Errorf("%d in use", l.InUse())
	}
}

// The upstream's capacity is the limit: it would refuse what is above it for a moment.
func TestLimitIsNotExceededForAMoment(t *testing.T) {
	up := &source{Capacity: 10_000}
	l := NewLimit(up, up.Capacity)
	var all sync.WaitGroup
	for g := range uint64(4) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(g, 7))
			for range 5000 {
				b, err := l.Alloc(1 + r.IntN(4000))
				var full *LimitError
				if err != nil && !errors.As(err, &full) {
					t.Errorf("upstream was asked for too much: %v", err)
				}
				l.Free(b)
			}
		})
	}
	all.Wait()
	if l.InUse() != 0 {
		t.Errorf("%d in use after everything was freed", l.InUse())
	}
}

// frees is a Reclaimer that counts, and looks whether the Limit is locked.
type frees struct {
	l *Limit
	n int
}

func (f *frees) FreeHeld() {
	f.n++
	f.l.budget.Unshare(&frees{}) // takes the lock
}

func TestReclaimAsksEverybodyElse(t *testing.T) {
	l := NewLimit(&source{}, 0)
	a, b, c := &frees{l: l}, &frees{l: l}, &frees{l: l}
	for _, f := range []*frees{a, b, c, b} {
		l.budget.Share(f)
	}
	never := func() bool { return false }
	l.budget.Reclaim(a, never)
	l.budget.Unshare(c)
	if l.budget.Reclaim(nil, never) || a.n != 1 || b.n != 2 || c.n != 1 {
		t.Errorf("asked %d, %d and %d times, want 1, 2, 1", a.n, b.n, c.n)
	}
	if !l.budget.Reclaim(nil, func() bool { return true }) || a.n+b.n != 4 {
		t.Errorf("asked %d times, want 4", a.n+b.n)
	}
}

// A Get without room asks one pool of its Limit after the other, until it has its memory: of five hundred pools
// that hold a block each, it takes the blocks of as few as it needs.
func TestAGetTakesNoMoreFromOtherPoolsThanItNeeds(t *testing.T) {
	const pools, size = 150, 64 << 10
	for _, line := range []string{"heap,sizeclass", "heap,direct", "mmap,slab"} {
		dev, strategy, _ := strings.Cut(line, ",")
		l := NewLimit(openDevice(t, dev), pools*size)
		holds := strategy
		if strategy == "direct" { // it holds nothing, and takes exactly what it is asked for
			holds = "exact"
		}
		for range pools {
			p := mustOpen(t, l, withoutClock(holds))
			t.Cleanup(func() { check.Must(t, p.Close()) })
			if b, err := p.Get(size); err == nil { // a region of mmap may be larger than the block
				mustRelease(t, b)
			}
		}
		p := mustOpen(t, l, withoutClock(strategy))
		before := l.InUse()
		b := mustGet(t, p, 10*size)
		if took := before + 10*size - l.InUse(); took > 30*size {
			t.Errorf("%s: other pools gave back %d KiB for %d KiB", line, took>>10, 10*size>>10)
		}
		mustRelease(t, b)
		check.Must(t, p.Close())
	}
}

func TestAStrategyUnderALimitGivesBackAndRetries(t *testing.T) {
	l := NewLimit(&source{}, 1000)
	s := holderOn("exact", l, Config{})
	s.Free(mustAlloc(t, s, 600))
	mustAlloc(t, s, 700)
	_, err := s.Alloc(400)
	var full *LimitError
	if !errors.As(err, &full) || full.InUse != 700 {
		t.Error(err)
	}
}

// To commit bytes that are committed already takes nothing, and to give back others gives nothing.
func TestLimitCountsBytesOfARangeOnce(t *testing.T) {
	d := openDevice(t, "virtual")
	l := NewLimit(d, 4*page)
	r, err := l.Reserve(100 * page)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range []struct {
		do     func(off, n int) error
		off, n int
		want   error
		in     int64
	}{
		{r.Commit, 0, 1, nil, 1},
		{r.Commit, 0, 4, nil, 4},
		{r.Commit, 1, 3, nil, 4},
		{r.Commit, 3, 2, device.ErrOutOfMemory, 4},
		{r.Commit, 0, 0, nil, 4},
		{r.Commit, 3, -1, device.ErrSize, 4},
		{r.Decommit, 3, -1, device.ErrSize, 4},
		{r.Decommit, 3, 10, nil, 3},
		{r.Decommit, 3, 10, nil, 3},
		{r.Commit, 10, 1, nil, 4},
		{r.Decommit, 0, 10, nil, 1},
	} {
		err := s.do(s.off*page, s.n*page)
		free, total, _ := d.MemInfo()
		if !errors.Is(err, s.want) || l.InUse() != s.in*page || total-free != s.in*page {
			t.Errorf("step %d: %v, %d in use, %d on the device, want %d pages", i, err, l.InUse(), total-free, s.in)
		}
	}
	if err := r.Close(); err != nil || l.InUse() != 0 {
		t.Errorf("%v, %d in use", err, l.InUse())
	}
}

func TestLimitCountsWhatIsCommitted(t *testing.T) {
	up := &pages{}
	l := NewLimit(up, 10*page)
	r, err := l.Reserve(100 * page)
	if err != nil || l.InUse() != 0 {
		t.Fatal(err, l.InUse())
	}
	commit := func(off, n int) func() error { return func() error { return r.Commit(off*page, n*page) } }
	decommit := func(off, n int) func() error { return func() error { return r.Decommit(off*page, n*page) } }
	for i, s := range []struct {
		do   func() error
		fail error // of the upstream
		want error
		in   int64
	}{
		{commit(0, 6), errLost, errLost, 0},
		{commit(0, 6), nil, nil, 6},
		{commit(6, 5), nil, device.ErrOutOfMemory, 6},
		{decommit(0, 2), nil, nil, 4},
		{decommit(2, 2), errLost, errLost, 4},
		{commit(6, 6), nil, nil, 10},
		{r.Close, errLost, errLost, 10},
		{r.Close, nil, nil, 0},
		{r.Close, nil, upstreamtest.ErrClosed, 0},
	} {
		up.Fail = s.fail
		if err := s.do(); !errors.Is(err, s.want) || l.InUse() != s.in*page || up.Bytes != s.in*page {
			t.Errorf("step %d: %v, %d in use, %d upstream, want %d pages", i, err, l.InUse(), up.Bytes, s.in)
		}
	}
}

func TestLimitSurvivesEveryFailureOfTheUpstream(t *testing.T) {
	for k, calls := 1, 1; k <= calls; k++ {
		up := &source{FailAt: k, Round: 16}
		l := NewLimit(upstreamtest.Device{Source: up}, 20_000)
		r := rand.New(rand.NewPCG(5, 6))
		var live []device.Block
		for range long(t, 200) {
			before := l.InUse()
			if len(live) > 0 && r.IntN(2) == 0 {
				l.Free(takeAt(&live, 0))
			} else if b, err := l.Alloc(1 + r.IntN(3000)); err == nil {
				live = append(live, b)
			} else if !errors.Is(err, device.ErrOutOfMemory) || l.InUse() != before {
				t.Fatalf("%v, %d in use, %d before", err, l.InUse(), before)
			}
			if l.InUse() != up.Bytes || up.Bytes > 20_000 {
				t.Fatalf("%d in use of 20000, upstream has %d", l.InUse(), up.Bytes)
			}
		}
		calls = up.Calls
	}
}

// What is left of a Limit, what is out of it, and what a request of a child takes of its parent.
func TestALimitKnowsWhatIsLeft(t *testing.T) {
	l := NewLimit(&source{}, 1000)
	child := mustLimit(t, l, 500, 100)
	mustAlloc(t, child, 60)
	if left, drawn := l.budget.Left(), l.budget.Drawn(); left != 900 || drawn != 60 {
		t.Errorf("%d left, %d drawn", left, drawn)
	}
	for _, c := range []struct {
		l         *Limit
		n, around int64
		short     bool
	}{{child, 40, 0, false}, {child, 41, 1, false}, {child, 440, 400, false}, {child, 441, 401, true}, {l, 900, 900, false}, {l, 901, 901, true}} {
		if around, short := c.l.short(c.n); around != c.around || short != c.short {
			t.Errorf("%d bytes, child %v: %d of the parent, short %v", c.n, c.l == child, around, short)
		}
	}
	b := mustAlloc(t, child, 41)
	if n := l.InUse(); n != 101 {
		t.Errorf("%d in use with a byte beyond the promise", n)
	}
	if child.Free(b); l.InUse() != 100 {
		t.Errorf("%d in use without it", l.InUse())
	}
}

// What the upstream does not give, or not give up, changes no count, also if it panics.
func TestALimitCountsWhatHasMoved(t *testing.T) {
	failing := &pages{Source: source{FailAt: 1, Panic: true}}
	l := NewLimit(failing, 10*page)
	if !doesPanic(func() { _, _ = l.Alloc(page) }) || l.InUse() != 0 {
		t.Errorf("%d in use after a panic of Alloc", l.InUse())
	}
	r := check.Ok(l.Reserve(4 * page))(t)
	failing.FailAt = failing.Calls + 1
	if !doesPanic(func() { _ = r.Commit(0, page) }) || l.InUse() != 0 {
		t.Errorf("%d in use after a panic of Commit", l.InUse())
	}
	check.Must(t, r.Close())
	up := &source{}
	l = NewLimit(upstreamtest.Device{Source: up}, 10*page)
	b := mustAlloc(t, l, page)
	upstreamtest.RegionOf(b).Refuse = errLost
	if l.giveUp(b, page) || l.InUse() != page {
		t.Errorf("%d in use of a page that stays", l.InUse())
	}
	upstreamtest.RegionOf(b).Refuse = nil
	if !l.giveUp(b, page) || l.InUse() != 0 {
		t.Errorf("%d in use of a page that has gone", l.InUse())
	}
}

// A Limit notes what was in use when it refused, for what is given back in vain. A call that has reserved bytes, and
// finds too little room for its region, notes nothing.
func TestALimitNotesWhatItRefused(t *testing.T) {
	l := NewLimit(&pages{}, 10*page)
	mustAlloc(t, l, 8*page)
	r := check.Ok(l.Reserve(10 * page))(t)
	if err := r.Commit(0, 5*page); !outOfMemory(err) || l.refused != 8*page {
		t.Errorf("%v, refused with %d in use", err, l.refused)
	}
	l = NewLimit(newUntold(), 600<<10) // less than a region
	if _, err := l.Alloc(100); !outOfMemory(err) || l.refused != 0 {
		t.Errorf("%v, refused with %d in use", err, l.refused)
	}
}

// A byte that comes back wakes the call that waits for it, and ends that the Limit is tight.
func TestAByteWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimit(&source{}, 1)
		p := mustOpen(t, l, Config{Strategy: "direct"})
		for _, max := range []int64{1, 0} { // a tight Limit as well
			b := mustAlloc(t, l, 1)
			check.Must(t, l.SetMax(max))
			var c <-chan result
			if max > 0 {
				c = getLater(t, t.Context(), p, 1)
			}
			synctest.Wait()
			l.Free(b)
			synctest.Wait()
			if l.tight.Load() != nil {
				t.Error("tight, with nothing in use")
			}
			if max > 0 {
				mustRelease(t, mustHave(t, c))
			}
		}
		check.Must(t, p.Close())
	})
}

func ExampleNewLimit() {
	l := NewLimit(&source{}, 4096)
	l.Alloc(4000)
	_, err := l.Alloc(512)
	fmt.Println(err)
	// Output:
	// slab: limit of 4096 bytes, 4000 in use, 512 asked: out of memory
}

// Two pools on one Limit give back for each other.
func ExampleNewLimit_shared() {
	l := NewLimit(&source{}, 4096)
	one, _ := Open(l, Config{Strategy: "exact"})
	two, _ := Open(l, Config{Strategy: "exact"})
	b, _ := one.Get(4000)
	b.Release()
	fmt.Println(one.Stats().HeldBytes, "of", l.InUse())
	c, err := two.Get(512)
	fmt.Println(c.Len(), err, one.Stats().HeldBytes, "of", l.InUse())
	// Output:
	// 4000 of 4000
	// 512 <nil> 0 of 512
}
