package slab

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bufslab/bufslab/device"
)

// What promises to others make impossible, and what a promise serves while others wait.

const mib = 1 << 20

// wantPromise checks that err names the promised bytes, as an *OutOfMemoryError does that wraps a *LimitError.
func wantPromise(t testing.TB, err error, size int, promised int64) {
	t.Helper()
	var full *OutOfMemoryError
	var limit *LimitError
	if !errors.As(err, &full) || full.Size != size || !errors.As(err, &limit) || limit.Promised != promised ||
		errors.As(err, new(*WaitError)) || !strings.Contains(err.Error(), fmt.Sprint(promised, " of these promised")) {
		t.Errorf("%d bytes beside %d promised: %v", size, promised, err)
	}
}

// eachPromising runs f in a bubble on each strategy, over a Limit of 64 MiB.
func eachPromising(t *testing.T, f func(t *testing.T, top *Limit, c Config)) {
	for _, dev := range []string{"heap", "mmap"} {
		for _, s := range Strategies() {
			t.Run(dev+","+s, func(t *testing.T) {
				needRange(t, dev)
				synctest.Test(t, func(t *testing.T) {
					f(t, NewLimit(openDevice(t, dev), 64*mib), withoutClock(s))
				})
			})
		}
	}
}

// A request that promises make impossible fails at once, and keeps none behind it from free memory. When the
// promise has
// ended it is served.
func TestWhatPromisesMakeImpossibleFailsAtOnce(t *testing.T) {
	eachPromising(t, func(t *testing.T, top *Limit, c Config) {
		child := mustLimit(t, top, 64*mib, 16*mib)
		p := mustOpen(t, top, c)
		out := mustGet(t, p, mib)
		_, err := p.GetContext(t.Context(), 50*mib)
		wantPromise(t, err, 50*mib, 16*mib)
		_, err = p.Get(50 * mib)
		wantPromise(t, err, 50*mib, 16*mib)
		for range 20 {
			b, err := p.GetContext(t.Context(), mib)
			if err != nil {
				t.Fatal(err)
			}
			mustRelease(t, b)
		}
		if s := p.Stats(); s.Waits != 0 || s.Failed != 2 {
			t.Errorf("%d waits, %d failed", s.Waits, s.Failed)
		}
		child.EndGuarantee()
		c1 := getLater(t, t.Context(), p, 50*mib)
		mustRelease(t, out)
		mustRelease(t, mustHave(t, c1))
		endBeside(t, p)
	})
}

// It fails at once behind others as well.
func TestWhatPromisesMakeImpossibleDoesNotQueue(t *testing.T) {
	eachPromising(t, func(t *testing.T, top *Limit, c Config) {
		mustLimit(t, top, 64*mib, 16*mib)
		p := mustOpen(t, top, c)
		out := mustGet(t, p, 40*mib)
		first := getLater(t, t.Context(), p, 40*mib)
		_, err := p.GetContext(t.Context(), 49*mib)
		wantPromise(t, err, 49*mib, 16*mib)
		mustRelease(t, out)
		mustRelease(t, mustHave(t, first))
		endBeside(t, p)
	})
}

// All that is not promised can be had: such a request waits and is served. So it is with the whole Limit.
func TestARequestOfAllThatIsNotPromised(t *testing.T) {
	for _, promised := range []int64{0, 16 * mib} {
		eachPromising(t, func(t *testing.T, top *Limit, c Config) {
			mustLimit(t, top, 64*mib, promised)
			p := mustOpen(t, top, c)
			out := mustGet(t, p, mib)
			last := getLater(t, t.Context(), p, int(64*mib-promised))
			if len(last) > 0 {
				t.Fatal(<-last)
			}
			mustRelease(t, out)
			if r := <-last; r.err == nil {
				mustRelease(t, r.b)
			} else if c.Strategy != "bitlog" && c.Strategy != "plan" { // these round, and say so when all is back
				t.Error(r.err)
			}
			endBeside(t, p)
		})
	}
}

// A call that waits ends when a new promise makes its request impossible: the one that leads and those behind it,
// also in
// the queue of a Limit within. The others are served.
func TestANewPromiseEndsWaits(t *testing.T) {
	eachPromising(t, func(t *testing.T, top *Limit, c Config) {
		p, within := mustOpen(t, top, c), mustOpen(t, mustLimit(t, top, 55*mib, 0), c)
		out, inner := mustGet(t, p, 6*mib), mustGet(t, within, 10*mib)
		calls := []<-chan result{
			getLater(t, t.Context(), within, 50*mib), // in the queue of its own Limit
			getLater(t, t.Context(), p, 60*mib),
			getLater(t, t.Context(), p, 50*mib),
			getLater(t, t.Context(), p, 8*mib),
		}
		mustLimit(t, top, 64*mib, 16*mib)
		for i, size := range []int{50 * mib, 60 * mib, 50 * mib} {
			wantPromise(t, (<-calls[i]).err, size, 16*mib)
		}
		mustRelease(t, mustHave(t, calls[3]))
		releaseAll(t, []PooledBuffer{out, inner})
		endBeside(t, p, within)
	})
}

// Promises count wherever they are: beside, within, around, in use or not. Each row is what a pool on a Limit may
// ask at
// most.
func TestTheMostThatPromisesLeave(t *testing.T) {
	top := NewLimit(&source{}, 1000)
	a := mustLimit(t, top, 900, 300)
	b := mustLimit(t, a, 800, 200)
	c := mustLimit(t, top, 1000, 0)
	d := mustLimit(t, c, 400, 150) // missing at the top, too, though the top has promised nothing to c
	e := NewLimit(b, 700)
	open := func(l *Limit) *Pool { return mustOpen(t, l, Config{Strategy: "exact"}) }
	of := map[string]*Pool{"top": open(top), "a": open(a), "b": open(b), "c": open(c), "d": open(d), "e": open(e)}
	stays := mustAlloc(t, b, 100) // of the promise: it changes nothing
	want := map[string]int{"top": 550, "a": 650, "b": 800, "c": 550, "d": 400, "e": 700}
	check := func() {
		t.Helper()
		for name, p := range of {
			if p.pool.never(want[name]) != nil || p.pool.never(want[name]+1) == nil {
				t.Errorf("%s has %d at most: %v, then %v", name, want[name], p.pool.never(want[name]), p.pool.never(want[name]+1))
			}
		}
	}
	check()
	d.EndGuarantee()
	want["top"], want["a"], want["c"] = 700, 700, 700
	check()
	a.EndGuarantee() // b's promise is missing at the top still
	want["top"], want["a"], want["c"] = 800, 700, 800
	check()
	b.EndGuarantee()
	want["top"], want["a"], want["c"] = 1000, 900, 1000
	check()
	b.Free(stays)
	if n := top.InUse() + top.idle.Load() + a.idle.Load() + b.idle.Load(); n != 0 {
		t.Errorf("%d bytes are in use, or idle", n)
	}
}

// An error of a Limit around says what is promised to others: not what is promised to the one that asks.
func TestALimitErrorOfAChild(t *testing.T) {
	top := NewLimit(&source{}, 1000)
	child := mustLimit(t, top, 1000, 300)
	mustLimit(t, top, 1000, 200)
	mustAlloc(t, top, 100)
	_, err := child.Alloc(750)
	var full *LimitError
	if !errors.As(err, &full) || full.Promised != 200 || full.limit != top {
		t.Error(err)
	}
}

// A size that no region of the device can make less than what is left is impossible, too: on mmap a page is the
// least.
func TestAPromiseThatLeavesPartOfAPage(t *testing.T) {
	top := NewLimit(openDevice(t, "mmap"), 10*page)
	mustLimit(t, top, page, 100)
	p := mustOpen(t, top, Config{Strategy: "exact"})
	_, err := p.GetContext(t.Context(), 9*page+1)
	wantPromise(t, err, 9*page+1, 100)
	mustRelease(t, mustGet(t, p, 9*page))
	endBeside(t, p)
}

// What no strategy can fit beside a promise fails when all is back, though the promise counts as in use.
func TestWhatNeverFitsBesideAPromise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		top := NewLimit(openDevice(t, "mmap"), mib)
		mustLimit(t, mustLimit(t, top, mib, 400<<10), mib, 200<<10)
		p := mustOpen(t, top, Config{Check: true})
		b := mustGet(t, p, 100<<10)
		never := getLater(t, t.Context(), p, 624<<10) // beside canaries
		behind := getLater(t, t.Context(), p, 600<<10)
		mustRelease(t, b)
		if r := <-never; !outOfMemory(r.err) || errors.As(r.err, new(*WaitError)) {
			t.Error(r.err)
		}
		mustRelease(t, mustHave(t, behind))
		endBeside(t, p)
	})
}

// More than the device has beside its grain fails at once.
func TestMoreThanADeviceHasInPages(t *testing.T) {
	p := openPool(t, "sim:8MiB", Config{Strategy: "direct"})
	out := mustGet(t, p, 1000)
	if _, err := p.GetContext(t.Context(), 8*mib+1); !errors.Is(err, device.ErrOutOfMemory) || p.Stats().Waits != 0 {
		t.Error(err)
	}
	mustRelease(t, out)
}

// A call that the promise of its Limit can serve passes those that wait around that Limit. Beyond the promise it
// waits, and
// what comes back to the promise is for the call that came first.
func TestAPromiseServesWhileOthersWait(t *testing.T) {
	eachPromising(t, func(t *testing.T, top *Limit, c Config) {
		const size = 900 << 10 // a MiB by any strategy, at most
		others, p := mustOpen(t, top, c), mustOpen(t, mustLimit(t, top, 8*mib, 4*mib), c)
		out := mustGet(t, others, 48*mib)
		large := getLater(t, t.Context(), others, 32*mib)
		mine := make([]PooledBuffer, 4)
		for i := range mine {
			b, err := p.GetContext(t.Context(), size)
			if err != nil {
				t.Fatal(err)
			}
			mine[i] = b
		}
		if p.Stats().Waits != 0 {
			t.Error("it waited for what was promised")
		}
		first := getLater(t, t.Context(), p, size) // the room beyond the promise is for the large one
		second := getLater(t, t.Context(), p, size)
		synctest.Wait()
		if len(first)+len(second)+len(large) > 0 {
			t.Fatal("one has passed the large one")
		}
		mustRelease(t, mine[0])
		synctest.Wait()
		if len(second) > 0 {
			t.Fatal("the second has passed the first")
		}
		b := mustHave(t, first)
		mustRelease(t, mine[1])
		mine[0], mine[1] = b, mustHave(t, second)
		mustRelease(t, out)
		mustRelease(t, mustHave(t, large))
		releaseAll(t, mine)
		endBeside(t, others, p)
	})
}

// A call that gives up, or was served, leaves what is promised to the next.
func TestAPromiseServesTheNextWhenOneGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		top := NewLimit(&source{}, 1000)
		c := Config{Strategy: "exact"}
		others, p := mustOpen(t, top, c), mustOpen(t, mustLimit(t, top, 600, 400), c)
		out := mustGet(t, others, 580)
		waits := getLater(t, t.Context(), others, 500)
		mine := mustGet(t, p, 200)
		ctx, cancel := context.WithCancel(t.Context())
		first := getLater(t, ctx, p, 300) // 100 more than the promise has left
		second := getLater(t, t.Context(), p, 150)
		if len(second) > 0 {
			t.Fatal("it has passed the first")
		}
		cancel()
		<-first
		mine2 := mustHave(t, second)
		releaseAll(t, []PooledBuffer{mine, mine2, out})
		mustRelease(t, mustHave(t, waits))
		endBeside(t, others, p)
	})
}
