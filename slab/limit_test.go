package slab

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
)

func TestLimitRefusesWithNumbers(t *testing.T) {
	up := &fake{}
	l := NewLimit(up, 4096)
	mustAlloc(t, l, 4000)
	_, err := l.Alloc(512)
	var full *LimitError
	if !errors.As(err, &full) || *full != (LimitError{4096, 4000, 512}) || !errors.Is(err, device.ErrOutOfMemory) {
		t.Fatal(err)
	}
	if want := "slab: limit of 4096 bytes, 4000 in use, 512 asked: out of memory"; err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if up.calls != 1 {
		t.Errorf("%d calls upstream", up.calls)
	}
	mustAlloc(t, l, 96)
}

func TestLimitCountsWholeRegions(t *testing.T) {
	l := NewLimit(fakeDevice{fake: &fake{round: 4096}}, 8192)
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
	up := &fake{round: 4096}
	l := NewLimit(fakeDevice{fake: up}, 4000)
	if _, err := l.Alloc(100); !errors.Is(err, device.ErrOutOfMemory) || up.bytes != 0 || l.InUse() != 0 {
		t.Errorf("%v, %d in use, %d upstream", err, l.InUse(), up.bytes)
	}
}

func TestLimitOfNothingAllowsNothing(t *testing.T) {
	for _, max := range []int64{0, -1} {
		if _, err := NewLimit(&fake{}, max).Alloc(1); !errors.Is(err, device.ErrOutOfMemory) {
			t.Errorf("limit of %d: %v", max, err)
		}
	}
}

func TestLimitRefusesNegativeSizes(t *testing.T) {
	l := NewLimit(&fake{}, 100)
	if _, err := l.Alloc(-1); !errors.Is(err, ErrSize) || l.InUse() != 0 {
		t.Errorf("%v, %d in use", err, l.InUse())
	}
}

func TestLimitIsAsBeforeWhenUpstreamRefusesABlock(t *testing.T) {
	l := NewLimit(&fake{}, 1000)
	b := mustAlloc(t, l, 100)
	wantPanic(t, "fake: Free of a block that is not out, 99 bytes at offset 0", func() { l.Free(device.Block{Region: b.Region, Len: 99}) })
	if l.InUse() != 100 {
		t.Errorf("%d in use", l.InUse())
	}
}

// The upstream's capacity is the limit: it would refuse what is above it for a moment.
func TestLimitIsNotExceededForAMoment(t *testing.T) {
	up := &fake{capacity: 10_000}
	l := NewLimit(up, up.capacity)
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
	f.l.Unshare(&frees{}) // takes the lock
}

func TestReclaimAsksEverybodyElse(t *testing.T) {
	l := NewLimit(&fake{}, 0)
	a, b, c := &frees{l: l}, &frees{l: l}, &frees{l: l}
	for _, f := range []*frees{a, b, c, b} {
		l.Share(f)
	}
	l.Reclaim(a)
	l.Unshare(c)
	l.Reclaim(nil)
	if a.n != 1 || b.n != 2 || c.n != 1 {
		t.Errorf("asked %d, %d and %d times, want 1, 2, 1", a.n, b.n, c.n)
	}
}

func TestAStrategyUnderALimitGivesBackAndRetries(t *testing.T) {
	l := NewLimit(&fake{}, 1000)
	s := NewExact(l, Config{})
	s.Free(mustAlloc(t, s, 600))
	mustAlloc(t, s, 700)
	_, err := s.Alloc(400)
	var full *LimitError
	if !errors.As(err, &full) || full.InUse != 700 {
		t.Error(err)
	}
}

func ExampleNewLimit() {
	l := NewLimit(&fake{}, 4096)
	l.Alloc(4000)
	_, err := l.Alloc(512)
	fmt.Println(err)
	// Output:
	// slab: limit of 4096 bytes, 4000 in use, 512 asked: out of memory
}

func ExampleLimit_Share() {
	l := NewLimit(&fake{}, 4096)
	one, two := NewExact(l, Config{}), NewExact(l, Config{})
	l.Share(one)
	l.Share(two)
	b, _ := one.Alloc(4000)
	one.Free(b)
	_, err := two.Alloc(512)
	fmt.Println(err)
	l.Reclaim(two)
	_, err = two.Alloc(512)
	fmt.Println(err)
	// Output:
	// slab: limit of 4096 bytes, 4000 in use, 512 asked: out of memory
	// <nil>
}
