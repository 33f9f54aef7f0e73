package slab

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/bufslab/bufslab/device"
)

// GetContext never passes a call that waits.

// nested are pools that share a budget of 1 MiB, in the ways in which Limits nest. A call may ask any of them.
var nested = map[string]func(t *testing.T, d device.Device, c Config) []*Pool{
	"max_bytes": func(t *testing.T, d device.Device, c Config) []*Pool {
		c.MaxBytes = 1 << 20
		return []*Pool{mustOpen(t, d, c)}
	},
	"two pools on a limit": func(t *testing.T, d device.Device, c Config) []*Pool {
		l := NewLimit(d, 1<<20)
		return []*Pool{mustOpen(t, l, c), mustOpen(t, l, c)}
	},
	"a pool on a limit, one on a child": func(t *testing.T, d device.Device, c Config) []*Pool {
		l := NewLimit(d, 1<<20)
		return []*Pool{mustOpen(t, l, c), mustOpen(t, mustLimit(t, l, 1<<20, 100<<10), c)}
	},
	"two children": func(t *testing.T, d device.Device, c Config) []*Pool {
		l := NewLimit(d, 1<<20)
		return []*Pool{mustOpen(t, mustLimit(t, l, 1<<20, 0), c), mustOpen(t, mustLimit(t, l, 1<<20, 0), c)}
	},
}

// withoutClock is the Config of a strategy that gives nothing back by time: a clock would keep a bubble alive in
// which a
// test has failed.
func withoutClock(strategy string) Config {
	c := Config{Strategy: strategy, GCTrigger: -1}
	if strategy != "direct" {
		c.Idle = -1
	}
	return c
}

// A reader takes parts in order. There is room for one part, and workers ask in the order of the parts. So a
// worker that
// passes another stops them all: the reader wants the other's part first.
func TestAReaderInOrder(t *testing.T) {
	for _, dev := range []string{"heap", "mmap"} {
		for name, on := range nested {
			for _, s := range Strategies() {
				t.Run(dev+","+name+","+s, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						pools := on(t, openDevice(t, dev), withoutClock(s))
						for round := range 3 {
							readInOrder(t, pools, round)
						}
						endBeside(t, pools...)
					})
				})
			}
		}
	}
}

// readInOrder has four workers ask for eight parts, each for the next as soon as one of its parts was read.
func readInOrder(t *testing.T, pools []*Pool, round int) {
	const workers, parts, size = 4, 8, 600 << 10
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // a call that has begun runs before the one that is woken
	type part struct {
		number int
		result
	}
	got := make(chan part, parts)
	ask := func(number int) {
		go func() {
			b, err := pools[(number+round)%len(pools)].GetContext(t.Context(), size)
			got <- part{number, result{b, err}}
		}()
	}
	slot := mustGet(t, pools[0], size)
	for number := range workers {
		ask(number)
		synctest.Wait() // it has its place
	}
	for number := range parts {
		mustRelease(t, slot)
		if next := number + workers; next < parts {
			ask(next)
		}
		synctest.Wait()
		next := <-got
		if slot = next.b; next.err != nil || next.number != number {
			t.Errorf("part %d has the slot that part %d waits for: %v", next.number, number, next.err)
		}
	}
	mustRelease(t, slot)
}

// A call that waits for a Limit, and then for the one around it, keeps its place: a later call of another queue
// does
// not pass it, though there is room.
func TestACallKeepsItsPlaceInAnotherQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		top := NewLimit(&source{}, 1000)
		one := mustOpen(t, mustLimit(t, top, 600, 0), Config{Strategy: "exact"})
		two := mustOpen(t, mustLimit(t, top, 400, 0), Config{Strategy: "exact"})
		a, b := mustGet(t, one, 500), mustGet(t, two, 300)
		first := getLater(t, t.Context(), one, 550) // 450 too many for its Limit
		second := getLater(t, t.Context(), two, 200)
		raw := mustAlloc(t, top, 200)
		mustRelease(t, a) // the first is 50 short at the top now
		synctest.Wait()
		mustRelease(t, b) // the top has 800: enough for either, so for the first
		got := mustHave(t, first)
		synctest.Wait()
		mustRelease(t, mustHave(t, second)) // 50 are left beside, and 200 below
		mustRelease(t, got)
		top.Free(raw)
		endBeside(t, one, two)
	})
}

// The later call waits where the earlier one is, though its own Limit has room, and goes on when that one gives up.
func TestALaterCallGoesToTheQueueOfTheEarlier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		top := NewLimit(&source{}, 1000)
		one := mustOpen(t, mustLimit(t, top, 600, 0), Config{Strategy: "exact"})
		two := mustOpen(t, mustLimit(t, top, 400, 0), Config{Strategy: "exact"})
		a, b := mustGet(t, one, 100), mustGet(t, two, 300)
		ctx, cancel := context.WithCancel(t.Context())
		first := getLater(t, ctx, one, 550)
		second := getLater(t, t.Context(), two, 200)
		raw := mustAlloc(t, top, 500)
		mustRelease(t, a)
		synctest.Wait() // the first waits at the top
		mustRelease(t, b)
		synctest.Wait()
		if at := two.pool.budgets[1:]; len(second) > 0 || at[0].Queue.Len() != 0 || at[1].Queue.Len() != 2 {
			t.Errorf("%d and %d wait", at[0].Queue.Len(), at[1].Queue.Len())
		}
		third := getLater(t, t.Context(), two, 10) // behind both
		if len(third) > 0 {
			t.Error("it passed two calls")
		}
		cancel()
		<-first
		mustRelease(t, mustHave(t, second))
		mustRelease(t, mustHave(t, third))
		top.Free(raw)
		endBeside(t, one, two)
	})
}
