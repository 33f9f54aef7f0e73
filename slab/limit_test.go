package slab

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

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
