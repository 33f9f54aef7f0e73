package bufslab

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
)

// A taker has memory of some bytes until back is called, and keeps it for reuse then.
type taker func(n int) (back func(), err error)

// takers are the three ways to hold memory, each on slab pools that open makes.
var takers = map[string]func(t *testing.T, open func() *slab.Pool) taker{
	"slab": func(t *testing.T, open func() *slab.Pool) taker {
		p := open()
		return func(n int) (func(), error) {
			b, err := p.Get(n)
			return func() { _ = b.Release() }, err
		}
	},
	"growpool": func(t *testing.T, open func() *slab.Pool) taker {
		p := growpool.New[int](open(), growpool.Config{})
		t.Cleanup(func() { p.Close() })
		return func(n int) (func(), error) {
			l, err := growpool.Acquire[byte](newImpatient(), p, n, n)
			if errors.Is(err, context.Canceled) {
				err = fmt.Errorf("it would wait, %w: %w", err, device.ErrOutOfMemory)
			}
			return func() { _ = l.Release() }, err
		}
	},
	"unified": func(t *testing.T, open func() *slab.Pool) taker {
		p := unified.NewPoolOn(nil, open(), unified.PoolConfig{})
		t.Cleanup(p.Clear)
		return func(n int) (func(), error) {
			b, err := unified.Acquire[byte](p, n)
			if err == nil {
				_, err = b.Device()
			}
			return func() { _ = b.Release() }, err
		}
	},
}

// An impatient context is done as soon as somebody waits for it.
type impatient struct {
	context.Context
	cancel context.CancelFunc
}

func newImpatient() impatient {
	ctx, cancel := context.WithCancel(context.Background())
	return impatient{ctx, cancel}
}

func (i impatient) Done() <-chan struct{} {
	i.cancel()
	return i.Context.Done()
}

// budgets are what pools may share: a Limit, or the memory of a device.
var budgets = map[string]func(d *sim.Device) slab.Allocator{
	"Limit":  func(d *sim.Device) slab.Allocator { return slab.NewLimit(d, 10<<20) },
	"device": func(d *sim.Device) slab.Allocator { return d },
}

// What any of the three keeps for reuse goes where another one, or its like, has no room. What
// is in use stays, and then there is an error.
func TestAllKindsOfPoolsShareOneBudget(t *testing.T) {
	for budget, on := range budgets {
		for has, first := range takers {
			for wants, second := range takers {
				t.Run(budget+"/"+has+" for "+wants, func(t *testing.T) {
					size := 10 << 20
					if budget == "Limit" {
						size = 100 << 20
					}
					up := on(sim.New(int64(size)))
					open := func() *slab.Pool {
						p, err := slab.Open(up, slab.Config{})
						if err != nil {
							t.Fatal(err)
						}
						t.Cleanup(func() { p.Close() })
						return p
					}
					give, take := first(t, open), second(t, open)
					back, err := give(7 << 20)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := take(6 << 20); !errors.Is(err, device.ErrOutOfMemory) {
						t.Fatalf("what is in use was taken: %v", err)
					}
					back()
					back, err = take(9 << 20)
					if err != nil {
						t.Fatal(err)
					}
					back()
				})
			}
		}
	}
}

// A buffer of unified.New has room where slab pools on its device hold memory.
func TestBuffersWithoutAPoolShareTheDevice(t *testing.T) {
	d := sim.New(10 << 20)
	p, err := slab.Open(d, slab.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	b, err := p.Get(8 << 20)
	if err != nil {
		t.Fatal(err)
	}
	_ = b.Release()
	a, err := unified.New[byte](d, 9<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Free()
	if _, err := a.Device(); err != nil {
		t.Error(err)
	}
}

// Pools of all kinds that take from each other at the same time do not wait for each
// other, and nothing is left of them.
func TestConcurrentPoolsShareOneBudget(t *testing.T) {
	l := slab.NewLimit(sim.New(100<<20), 4<<20)
	var pools []*slab.Pool
	open := func() *slab.Pool {
		p, err := slab.Open(l, slab.Config{})
		if err != nil {
			t.Fatal(err)
		}
		pools = append(pools, p)
		return p
	}
	var all sync.WaitGroup
	for _, kind := range []string{"slab", "growpool", "unified"} {
		take := takers[kind](t, open)
		for g := range 2 {
			all.Go(func() {
				for i := range 100 {
					back, err := take(1<<20 + (i+g)%5<<18)
					if err == nil {
						back()
					} else if !errors.Is(err, device.ErrOutOfMemory) {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	if _, err := pools[0].Get(4<<20 - 4096); err != nil {
		t.Error("idle pools kept the budget:", err)
	}
	for _, p := range pools {
		p.Close()
	}
}
