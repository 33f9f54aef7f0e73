package slab

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// The error of a call that gives up has why its last try found no room. A call that was never its turn has that others
// wait.
func TestAWaitErrorHasTheLastTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openLine(t, "device=mmap,strategy=direct,max_bytes=1MiB")
		out := mustGet(t, p, 800<<10)
		var calls [3]<-chan result
		var giveUp [3]context.CancelFunc
		for i := range calls {
			var ctx context.Context
			ctx, giveUp[i] = context.WithCancel(t.Context())
			calls[i] = getLater(t, ctx, p, 500<<10)
			synctest.Wait()
		}
		for _, c := range []struct {
			call  int
			tried bool
		}{{2, false}, {0, true}, {1, true}} { // the second leads once the first has given up
			giveUp[c.call]()
			var wait *WaitError
			var full *OutOfMemoryError
			err := (<-calls[c.call]).err
			if !errors.As(err, &wait) || !errors.Is(wait.Err, device.ErrOutOfMemory) || errors.As(wait.Err, &full) != c.tried {
				t.Errorf("call %d: %v", c.call, err)
			}
			synctest.Wait()
		}
		mustRelease(t, out)
		check.Must(t, p.Close())
	})
}

// More than a Limit can ever give is that error, also where the context is done.
func TestADoneContextAsksForTooMuch(t *testing.T) {
	p := openLine(t, "device=mmap,max_bytes=1MiB")
	done, cancel := context.WithCancel(t.Context())
	cancel()
	var wait *WaitError
	var never *LimitError
	if _, err := p.GetContext(done, 2<<20); !errors.As(err, &never) || errors.As(err, &wait) || p.Stats().Failed != 1 {
		t.Errorf("%v, %d failed", err, p.Stats().Failed)
	}
	if _, err := p.GetAll(done, 1<<20, 1); !errors.As(err, &never) || errors.As(err, &wait) || p.Stats().Failed != 2 {
		t.Errorf("%v, %d failed", err, p.Stats().Failed)
	}
}

// A try that fails is hopeless where nothing was out, and no other call got anything meanwhile.
func TestWhenATryIsHopeless(t *testing.T) {
	for _, c := range []struct {
		before, got, kept bool // a buffer that was out before, and one that was got meanwhile
		tries             int
		hopeless          bool
	}{{tries: 1, hopeless: true}, {before: true}, {got: true, tries: 1}, {got: true, kept: true, tries: 1}} {
		p := mustOpen(t, &source{}, Config{Strategy: "direct"})
		var out []PooledBuffer
		if c.before {
			out = append(out, mustGet(t, p, 10))
		}
		tries, at := 0, p.pool.budgets[len(p.pool.budgets)-1]
		next, hopeless, err := p.pool.tryInCalm(1000, at, func() error {
			if tries++; c.got && tries == 1 {
				b := mustGet(t, p, 10)
				if c.kept {
					out = append(out, b)
				} else {
					mustRelease(t, b)
				}
			}
			return device.ErrOutOfMemory
		}, device.ErrOutOfMemory)
		if next != at || hopeless != c.hopeless || tries != c.tries || !outOfMemory(err) {
			t.Errorf("%+v: hopeless %v after %d tries, %v", c, hopeless, tries, err)
		}
		releaseAll(t, out)
		check.Must(t, p.Close())
	}
}

// A call waits for the widest Limit that has too little room for it, from the one that refused on. What was promised to
// the inner one is not wanted of the outer one.
func TestWhichLimitACallWaitsFor(t *testing.T) {
	outer := NewLimit(&source{}, 1000)
	inner := mustLimit(t, outer, 500, 200)
	p := mustOpen(t, inner, Config{Strategy: "direct"})
	wait := func(when string, err error, size int, want *Limit) {
		t.Helper()
		if at := p.pool.refusing(err, size); at != &want.budget {
			t.Errorf("%s: %d bytes wait for the inner Limit: %v, the outer: %v", when, size, at == &inner.budget, at == &outer.budget)
		}
	}
	a := mustAlloc(t, inner, 100)
	wait("no Limit has refused", device.ErrOutOfMemory, 450, outer)
	wait("the inner is full", &LimitError{limit: inner}, 450, inner)
	b := mustAlloc(t, outer, 750)
	wait("both are full", &LimitError{limit: inner}, 450, outer)
	wait("the outer is full", &LimitError{limit: outer}, 300, outer)
	wait("the outer has what is wanted of it", &LimitError{limit: inner}, 150, inner)
	inner.Free(a)
	outer.Free(b)
	check.Must(t, p.Close())
}
