package slab

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
)

func mustLimit(t testing.TB, l *Limit, max, guarantee int64) *Limit {
	t.Helper()
	child, err := l.Within(max, guarantee)
	if err != nil {
		t.Fatal(err)
	}
	return child
}

// A bad guarantee is an error that says why, and changes nothing.
func TestBadGuarantees(t *testing.T) {
	l := NewLimit(&source{}, 1000)
	mustLimit(t, l, 500, 400)
	for _, bad := range [][2]int64{{500, -1}, {500, 501}, {-1, 0}, {2000, 601}, {math.MaxInt64, math.MaxInt64}, {math.MinInt64, math.MinInt64}} {
		_, err := l.Within(bad[0], bad[1])
		var g *GuaranteeError
		if !errors.As(err, &g) || *g != (GuaranteeError{bad[1], bad[0], 1000, 400}) || errors.Is(err, device.ErrOutOfMemory) {
			t.Errorf("%d of %d: %v", bad[1], bad[0], err)
		}
	}
	if l.InUse() != 400 {
		t.Errorf("%d in use", l.InUse())
	}
	mustLimit(t, l, 600, 600)
	_, err := l.Within(100, 1)
	if want := "slab: a guarantee of 1 bytes for a limit of 100, within one of 1000 that has promised 1000"; err == nil || err.Error() != want {
		t.Error(err)
	}
}

// What is in use cannot be promised, until it is given back.
func TestGuaranteeOfWhatIsInUse(t *testing.T) {
	l := NewLimit(&source{}, 1000)
	b := mustAlloc(t, l, 700)
	_, err := l.Within(500, 301)
	var full *LimitError
	if !errors.As(err, &full) || full.InUse != 700 || full.Asked != 301 || l.InUse() != 700 {
		t.Error(err, l.InUse())
	}
	mustLimit(t, l, 500, 300)
	l.Free(b)
	mustLimit(t, l, 500, 500)
}

// The parent counts what is promised or what is in use, whichever is more.
func TestParentCountsTheGuarantee(t *testing.T) {
	up := &source{}
	root := NewLimit(up, 1000)
	parent := mustLimit(t, root, 800, 500)
	child := mustLimit(t, parent, 600, 200)
	check := func(c, p, r, u int64) {
		t.Helper()
		if child.InUse() != c || parent.InUse() != p || root.InUse() != r || up.Bytes != u {
			t.Errorf("%d, %d, %d and %d in use, want %d, %d, %d, %d", child.InUse(), parent.InUse(), root.InUse(), up.Bytes, c, p, r, u)
		}
	}
	check(0, 200, 500, 0)
	a := mustAlloc(t, child, 150)
	check(150, 200, 500, 150)
	b := mustAlloc(t, child, 250)
	check(400, 400, 500, 400)
	c := mustAlloc(t, parent, 350)
	check(400, 750, 750, 750)
	if _, err := child.Alloc(51); !errors.Is(err, device.ErrOutOfMemory) {
		t.Error(err)
	}
	check(400, 750, 750, 750)
	child.Free(b)
	check(150, 550, 550, 500)
	if _, err := root.Alloc(451); !errors.Is(err, device.ErrOutOfMemory) {
		t.Error("a guarantee was stolen:", err)
	}
	d := mustAlloc(t, root, 450)
	e := mustAlloc(t, child, 50) // of its guarantee
	check(200, 550, 1000, 1000)
	child.Free(e)
	root.Free(d)
	child.EndGuarantee()
	child.EndGuarantee()
	check(150, 500, 500, 500)
	parent.EndGuarantee()
	child.Free(a)
	parent.Free(c)
	root.EndGuarantee() // it has none
	check(0, 0, 0, 0)
}

// A promise of one byte counts in all Limits around, and ends.
func TestAPromiseOfAByte(t *testing.T) {
	top := NewLimit(&source{}, 10)
	parent := mustLimit(t, top, 10, 5)
	mustLimit(t, parent, 10, 5)
	child := mustLimit(t, parent, 10, 1)
	if n := top.InUse(); n != 6 || top.budget.Drawn() != 0 || parent.budget.Drawn() != 0 {
		t.Errorf("%d in use, %d and %d drawn", n, top.budget.Drawn(), parent.budget.Drawn())
	}
	var g *GuaranteeError
	if _, err := top.Within(10, 5); !errors.As(err, &g) || g.Promised != 6 {
		t.Errorf("%v", err)
	}
	if text := (&LimitError{Max: 10, InUse: 6, Asked: 5, Promised: 1}).Error(); !strings.Contains(text, "6 in use, 1 of these promised to others, 5 asked") {
		t.Error(text)
	}
	child.EndGuarantee()
	mustLimit(t, top, 10, 5)
	if n := top.InUse(); n != 10 || top.budget.Drawn() != 0 || parent.budget.Drawn() != 0 {
		t.Errorf("%d in use, %d and %d drawn, when it has ended", n, top.budget.Drawn(), parent.budget.Drawn())
	}
}

// Ranges count as blocks do, and a failure of the upstream changes nothing.
func TestGuaranteeOfRanges(t *testing.T) {
	up := &pages{}
	l := NewLimit(up, 10*page)
	child := mustLimit(t, l, 10*page, 3*page)
	r, err := child.Reserve(10 * page)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range []struct {
		do    func() error
		fail  error
		child int64
		in    int64
	}{
		{func() error { return r.Commit(0, 5*page) }, errLost, 0, 3},
		{func() error { return r.Commit(0, 2*page) }, nil, 2, 3},
		{func() error { return r.Commit(2*page, 5*page) }, nil, 7, 7},
		{func() error { return r.Decommit(2*page, 5*page) }, errLost, 7, 7},
		{func() error { return r.Decommit(0, 5*page) }, nil, 2, 3},
		{r.Close, nil, 0, 3},
	} {
		up.Fail = s.fail
		if err := s.do(); !errors.Is(err, s.fail) || child.InUse() != s.child*page || l.InUse() != s.in*page {
			t.Errorf("step %d: %v, %d and %d in use", i, err, child.InUse(), l.InUse())
		}
	}
}

// Whatever others do, a child never lacks what it was promised, and the sum never exceeds
// the parent, for a moment.
func TestAGuaranteeIsKeptUnderPressure(t *testing.T) {
	const most, mine = 1 << 20, 300 << 10
	d := openDevice(t, "mmap")
	up := &source{Capacity: most}
	for name, up := range map[string]Allocator{"blocks": up, "pages": d} {
		t.Run(name, func(t *testing.T) {
			root := NewLimit(up, most)
			parent := mustLimit(t, root, most, mine+100<<10)
			child, second := mustLimit(t, parent, most/2, mine), mustLimit(t, root, mine, 100<<10)
			var others, own sync.WaitGroup
			stop := make(chan struct{})
			for g, l := range []*Limit{root, root, parent, child, child} {
				others.Go(func() {
					r := rand.New(rand.NewPCG(uint64(g), 5))
					for {
						select {
						case <-stop:
							return
						default:
						}
						size := 1 + r.IntN(most)
						if l == child { // two of these are often beyond what was promised
							size %= mine
						}
						if b, err := l.Alloc(size); err == nil {
							l.Free(b)
						}
					}
				})
			}
			own.Go(func() {
				defer second.EndGuarantee()
				for range bounded(t, long(t, 1_000_000), 100*time.Millisecond) {
					b, err := second.Alloc(100 << 10)
					if err != nil {
						t.Error("stolen:", err)
						return
					}
					if n := root.InUse(); n < mine+200<<10 || n > most {
						t.Errorf("%d of %d in use, %d promised", n, most, mine+200<<10)
						return
					}
					second.Free(b)
				}
			})
			own.Wait()
			close(stop)
			others.Wait()
			if root.InUse() != mine+100<<10 || child.InUse() != 0 {
				t.Errorf("%d and %d in use", root.InUse(), child.InUse())
			}
		})
	}
}

func ExampleLimit_Within() {
	root := NewLimit(&source{}, 1000)
	child, _ := root.Within(500, 300)
	_, err := root.Alloc(800)
	fmt.Println(err)
	_, err = child.Alloc(300)
	fmt.Println(err)
	// Output:
	// slab: limit of 1000 bytes, 300 in use, 300 of these promised to others, 800 asked: out of memory
	// <nil>
}

// Within has held memory given back, as a Get of another pool would.
func TestAGuaranteeTakesWhatIsHeld(t *testing.T) {
	top := NewLimit(openDevice(t, "heap"), 8<<20)
	p := mustOpen(t, top, Config{})
	mustRelease(t, mustGet(t, p, 7<<20))
	if _, err := top.Within(4<<20, 4<<20); err != nil || p.Stats().HeldBytes != 0 {
		t.Errorf("%v, %d held", err, p.Stats().HeldBytes)
	}
	mustGet(t, p, 3<<20)
	var full *LimitError
	if _, err := top.Within(4<<20, 2<<20); !errors.As(err, &full) {
		t.Error(err)
	}
}

// A promise asks all to give back who may have what it needs: also pools on a Limit around.
func TestAPromiseAsksThoseAround(t *testing.T) {
	top := NewLimit(sim.New(4<<20), 1<<20)
	a := check.Ok(top.Within(1<<20, 0))(t)
	p := mustOpen(t, top, Config{})
	mustRelease(t, mustGet(t, p, 900<<10)) // held, and not in use
	check.Ok(a.Within(500<<10, 500<<10))(t)
}

// What comes back to a promise changes nothing for the Limit around it. But who was refused
// there, where the promise had no more, may have it now.
func TestWhatComesBackToAPromiseWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		top := NewLimit(openDevice(t, "heap"), 1<<20)
		a := mustLimit(t, top, 1<<20, 512<<10)
		raw := mustAlloc(t, a, 512<<10)             // all that is promised
		mustAlloc(t, NewLimit(top, 1<<20), 512<<10) // the rest
		p := mustOpen(t, a, Config{Strategy: "direct"})
		c := getLater(t, t.Context(), p, 256<<10)
		synctest.Wait()
		a.Free(raw)
		mustRelease(t, mustHave(t, c))
		p.Close()
	})
}

// A gated upstream refuses blocks of 100 bytes, once gate is closed.
type gated struct {
	source
	in, gate chan struct{}
}

func (g *gated) Alloc(n int) (device.Block, error) {
	if n == 100 {
		close(g.in)
		<-g.gate
		return device.Block{}, device.ErrOutOfMemory
	}
	return g.source.Alloc(n)
}

// So it is with what was reserved of a promise in vain.
func TestWhatAPromiseReservedInVainWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		up := &gated{in: make(chan struct{}), gate: make(chan struct{})}
		top := NewLimit(up, 200)
		a := mustLimit(t, top, 200, 100)
		mustAlloc(t, top, 50)
		mustAlloc(t, top, 50)
		p := mustOpen(t, a, Config{Strategy: "direct"})
		go a.Alloc(100)
		<-up.in
		c := getLater(t, t.Context(), p, 50)
		synctest.Wait()
		close(up.gate)
		mustRelease(t, mustHave(t, c))
		p.Close()
	})
}
