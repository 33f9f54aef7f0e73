package fuzz_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/slab"
)

// Histories of leases: two goroutines share a growpool.Pool, one has another, and one has a
// slab.Pool, all on one budget. There must be an order in which tenants explain all results.

// A lessee makes calls on a pool of keys and notes them.
type lessee struct {
	player
	keyed  *growpool.Pool[int]
	number int // of the pool
	bug    string
	leases []holding
}

type holding struct {
	*growpool.Lease[byte]
	key int
}

func (l *lessee) note(in want, f func() lent) {
	from := l.clock.Add(1)
	if l.r.IntN(2) == 0 {
		runtime.Gosched() // others go on within this call
	}
	out := f()
	l.notes = append(l.notes, porcupine.Operation{ClientId: l.id, Input: in, Call: from, Output: out, Return: l.clock.Add(1)})
}

// step waits, as a player does, only where the lessee has nothing.
func (l *lessee) step(t *testing.T, ctx context.Context) {
	w := want{call: acquire, pool: l.number, key: l.r.IntN(keysOfAPool), size: int64(sizes[l.r.IntN(len(sizes))])}
	switch n := l.r.IntN(10); {
	case n == 0:
		l.clear()
	case len(l.leases) > 0 && n < 7:
		l.release(t)
	default:
		if w.patient = len(l.leases) == 0 && n < 8; !w.patient {
			ctx = model.NewImpatient()
		}
		w.mark = uint64(l.clock.Add(1))
		l.note(w, func() lent { return l.acquire(t, ctx, w) })
	}
}

func (l *lessee) acquire(t *testing.T, ctx context.Context, w want) (r lent) {
	key := w.key
	if l.bug == "keys have one buffer" {
		key = 0
	}
	lease, err := growpool.Acquire[byte](ctx, l.keyed, key, int(w.size))
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		r.outcome = gaveUp
	case errors.Is(err, device.ErrOutOfMemory):
		r.outcome = noRoom
	case err != nil:
		t.Error(err)
	default:
		r.found = binary.LittleEndian.Uint64(lease.Slice())
		binary.LittleEndian.PutUint64(lease.Slice(), w.mark)
		l.leases = append(l.leases, holding{lease, w.key})
	}
	return r
}

func (l *lessee) release(t *testing.T) {
	last := l.leases[len(l.leases)-1]
	l.leases = l.leases[:len(l.leases)-1]
	l.note(want{call: release, pool: l.number, key: last.key}, func() (r lent) {
		if err := last.Release(); err != nil {
			t.Error(err)
		}
		return r
	})
}

func (l *lessee) clear() {
	from := l.clock.Add(1)
	if l.bug != "Clear does nothing" {
		l.keyed.Clear()
	}
	to := l.clock.Add(1)
	for key := range keysOfAPool {
		in := want{call: clearAll, pool: l.number, key: key}
		l.notes = append(l.notes, porcupine.Operation{ClientId: l.id, Input: in, Call: from, Output: lent{}, Return: to})
	}
}

// leasesExplained makes a history on pools with a bug, "" for none, and looks for its order.
// The seed says which strategy they have; of every ten, five have bounds for the pools of keys.
func leasesExplained(t *testing.T, seed uint64, bug string) porcupine.CheckResult {
	c := slab.Config{Strategy: []string{"direct", "exact", "sizeclass", "bestfit", "slab"}[seed%5], Zero: true}
	most := []int64{budget, budget / 2}[seed/5%2]
	dev := openMmap(t)
	limits := [2]*slab.Limit{slab.NewLimit(dev, budget), slab.NewLimit(dev, budget)}
	if bug != "there are two budgets" {
		limits[1] = limits[0]
	}
	var below [2]*slab.Pool
	keyed := make([]*growpool.Pool[int], 3)
	for i, l := range limits {
		var err error
		if below[i], err = pool(c)(l); err != nil {
			t.Fatal(err)
		}
		defer below[i].Close()
		keyed[2*i] = growpool.New[int](below[i], growpool.Config{MaxBytes: most % budget})
	}
	if keyed[1] = keyed[0]; bug == "a key is leased twice" {
		keyed[1] = growpool.New[int](below[0], growpool.Config{MaxBytes: most % budget})
	}
	for _, p := range slices.Compact(slices.Clone(keyed)) {
		defer p.Close()
	}
	return porcupine.CheckOperationsTimeout(tenantsOf(most), leaseHistory(t, seed, bug, keyed, below[0]), 10*time.Second)
}

// leaseHistory has three lessees make calls on pools of keys, of which the first two are one,
// and a player on a slab.Pool.
func leaseHistory(t *testing.T, seed uint64, bug string, keyed []*growpool.Pool[int], plain *slab.Pool) []porcupine.Operation {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // nobody waits for so long
	defer cancel()
	var clock atomic.Int64
	var wait sync.WaitGroup
	var all [4]lessee
	for i := range all {
		l := &all[i]
		l.player = player{id: i, pool: plain, r: rand.New(rand.NewPCG(seed, uint64(i))), clock: &clock}
		if i == len(keyed) {
			wait.Go(func() { l.play(t, sizes) })
			continue
		}
		l.keyed, l.number, l.bug = keyed[i], i/2, bug
		wait.Go(func() {
			for range 12 {
				l.step(t, ctx)
			}
			for len(l.leases) > 0 {
				l.release(t)
			}
		})
	}
	wait.Wait()
	return slices.Concat(all[0].notes, all[1].notes, all[2].notes, all[3].notes)
}

func TestHistoriesOfLeases(t *testing.T) {
	explained, undecided := 0, 0
	for seed := range histories(t) {
		switch leasesExplained(t, seed, "") {
		case porcupine.Ok:
			explained++
		case porcupine.Unknown:
			undecided++
		default:
			t.Fatalf("no order explains history %d", seed)
		}
	}
	t.Logf("%d explained, %d undecided in their time", explained, undecided)
}

// Each bug is found.
func TestAHistoryOfLeasesWithABugIsFound(t *testing.T) {
	for _, bug := range []string{"a key is leased twice", "there are two budgets", "keys have one buffer", "Clear does nothing"} {
		t.Run(bug, func(t *testing.T) {
			for seed := range uint64(1000) {
				if leasesExplained(t, seed, bug) == porcupine.Illegal {
					t.Logf("found in history %d", seed)
					return
				}
			}
			t.Error("all histories had an order")
		})
	}
}
