package fuzz_test

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/slab"
)

// Histories of calls of several goroutines are put in an order in which a budget that does
// one thing at a time explains all results. There must be one.

type call string

const (
	get        call = "Get"
	getContext call = "GetContext"
	release    call = "Release"
)

// An input is a call, and an outcome what it returned.
type input struct {
	call call
	size int64
}

type outcome int

const (
	done   outcome = iota
	noRoom         // what Get says, and GetContext of what never fits
	gaveUp         // the context was done
)

// budgetOf is a budget of most bytes that does one thing at a time. Its state is the bytes
// that are out. Where pools hold memory, a Get may miss what another goroutine is giving
// back, so it may fail; a GetContext must not.
func budgetOf(most int64, holds bool) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return int64(0) },
		Step: func(state, in, out any) (bool, any) {
			used, i := state.(int64), in.(input)
			fits := used+i.size <= most
			switch {
			case i.call == release:
				return used >= i.size, used - i.size
			case out == done:
				return fits, used + i.size
			case out == gaveUp: // it may find room, and not look once more
				return i.call == getContext, used
			}
			return i.call == get && (holds || !fits) || i.size > most, used
		},
	}
}

// A player makes calls on a pool and notes them.
type player struct {
	id    int
	pool  *slab.Pool
	r     *rand.Rand
	clock *atomic.Int64
	has   []slab.PooledBuffer
	notes []porcupine.Operation
}

func (p *player) note(in input, f func() outcome) {
	from := p.clock.Add(1)
	out := f()
	p.notes = append(p.notes, porcupine.Operation{ClientId: p.id, Input: in, Call: from, Output: out, Return: p.clock.Add(1)})
}

// play makes some steps, and releases all.
func (p *player) play(t *testing.T, sizes []int) {
	for range 12 {
		p.step(t, sizes)
	}
	for len(p.has) > 0 {
		p.release(t)
	}
}

// step waits only where the player has nothing: so somebody always can go on.
func (p *player) step(t *testing.T, sizes []int) {
	size := sizes[p.r.IntN(len(sizes))]
	switch n := p.r.IntN(3); {
	case len(p.has) > 0 && n > 0:
		p.release(t)
	case len(p.has) > 0 || n == 0:
		p.note(input{get, int64(size)}, func() outcome { return p.keep(t, p.pool.Get, size) })
	default:
		var ctx context.Context = model.NewImpatient()
		if p.r.IntN(4) > 0 {
			ctx = t.Context()
		}
		p.note(input{getContext, int64(size)}, func() outcome {
			return p.keep(t, func(n int) (slab.PooledBuffer, error) { return p.pool.GetContext(ctx, n) }, size)
		})
	}
}

func (p *player) keep(t *testing.T, get func(int) (slab.PooledBuffer, error), size int) outcome {
	b, err := get(size)
	switch {
	case err == nil:
		p.has = append(p.has, b)
		return done
	case errors.Is(err, context.Canceled):
		return gaveUp
	case !errors.Is(err, device.ErrOutOfMemory):
		t.Error(err)
	}
	return noRoom
}

func (p *player) release(t *testing.T) {
	b := p.has[len(p.has)-1]
	p.has = p.has[:len(p.has)-1]
	p.note(input{release, int64(b.Len())}, func() outcome {
		if err := b.Release(); err != nil {
			t.Error(err)
		}
		return done
	})
}

// history has players make calls on pools in turn, each some steps.
func history(t *testing.T, seed uint64, pools []*slab.Pool, sizes []int) (all []porcupine.Operation) {
	var clock atomic.Int64
	var wait sync.WaitGroup
	players := make([]player, 4)
	for i := range players {
		p := &players[i]
		*p = player{id: i, pool: pools[i%len(pools)], r: rand.New(rand.NewPCG(seed, uint64(i))), clock: &clock}
		wait.Go(func() { p.play(t, sizes) })
	}
	wait.Wait()
	for _, p := range players {
		all = append(all, p.notes...)
	}
	return all
}

const (
	budget  = 1 << 20
	minimal = budget / 8 // of which all sizes are multiples, and powers of two: no strategy rounds
)

var sizes = []int{minimal, 2 * minimal, 4 * minimal, 8 * minimal, 16 * minimal}

// explained reports whether the history of pools on upstreams has an order.
func explained(t *testing.T, seed uint64, c slab.Config, upstreams ...slab.Allocator) bool {
	var pools []*slab.Pool
	for _, up := range upstreams {
		p, err := pool(c)(up)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		pools = append(pools, p)
	}
	m := budgetOf(budget, c.Strategy != "direct")
	return porcupine.CheckOperationsTimeout(m, history(t, seed, pools, sizes), 10*time.Second) != porcupine.Illegal
}

func TestHistoriesOfABudget(t *testing.T) {
	for _, name := range []string{"direct", "exact", "sizeclass", "bestfit", "slab"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dev := openMmap(t)
			for seed := range histories(t) {
				l := slab.NewLimit(dev, budget)
				if !explained(t, seed, slab.Config{Strategy: name}, l, l) {
					t.Fatalf("no order explains history %d", seed)
				}
			}
		})
	}
}

// histories counts seeds: as many as BUFSLAB_STRESS says, else as fit into 0.4 s. It logs
// how many there were.
func histories(t *testing.T) iter.Seq[uint64] {
	most, long := uint64(300), os.Getenv("BUFSLAB_STRESS")
	if long != "" {
		var err error
		if most, err = strconv.ParseUint(long, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	end := time.Now().Add(400 * time.Millisecond)
	return func(yield func(uint64) bool) {
		seed := uint64(0)
		for seed < most && (long != "" || seed < 10 || time.Now().Before(end)) && yield(seed) {
			seed++
		}
		t.Logf("%d histories", seed)
	}
}

// Two budgets are not one: a history that exceeds it is found.
func TestAHistoryThatExceedsTheBudgetIsFound(t *testing.T) {
	dev := openMmap(t)
	for seed := range uint64(1000) {
		if !explained(t, seed, slab.Config{Strategy: "direct"}, slab.NewLimit(dev, budget), slab.NewLimit(dev, budget)) {
			return
		}
	}
	t.Error("all histories had an order")
}

// A Get that fails beside free memory is found: here the budget is half of what it says.
func TestAHistoryWithoutItsMemoryIsFound(t *testing.T) {
	dev := openMmap(t)
	for seed := range uint64(1000) {
		l := slab.NewLimit(dev, budget/2)
		if !explained(t, seed, slab.Config{Strategy: "direct"}, l, l) {
			return
		}
	}
	t.Error("all histories had an order")
}

func openMmap(t *testing.T) device.Device {
	dev, err := device.Open("mmap")
	if err != nil {
		t.Fatal(err)
	}
	return dev
}
