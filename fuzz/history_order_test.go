package fuzz_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/bufslab/bufslab/slab"
)

// Calls of GetContext on nested Limits are put beside a model that serves them in the order in which they came: each
// that waits is known to wait before the next event. Two pools share a Limit, and one has a promise of it.

// A waitModel knows what is out, and who waits for what.
type waitModel struct {
	out     int64
	waiting []int64 // bytes, in order
}

const promisedToOthers = budget / 4

// ask says what a GetContext of n bytes does: it fails at once, is served, or waits.
func (m *waitModel) ask(n int64) string {
	switch {
	case n > budget-promisedToOthers:
		return "fails"
	case len(m.waiting) > 0 || m.out+n > budget-promisedToOthers:
		m.waiting = append(m.waiting, n)
		return "waits"
	}
	m.out += n
	return "served"
}

// release takes n bytes back, and returns how many of those that wait are served.
func (m *waitModel) release(n int64) (served int) {
	for m.out -= n; len(m.waiting) > 0 && m.out+m.waiting[0] <= budget-promisedToOthers; served++ {
		m.out += m.waiting[0]
		m.waiting = m.waiting[1:]
	}
	return served
}

// An answer is what a call has returned, by the number of the call.
type answer struct {
	number int
	b      slab.PooledBuffer
	err    error
}

// inOrder makes a program of calls and compares it with the model. Barging, the bug, has a call try before it queues.
func inOrder(t *testing.T, seed uint64, name string, barging bool) (same bool) {
	r := rand.New(rand.NewPCG(seed, 11))
	top := slab.NewLimit(openMmap(t), budget)
	if _, err := top.Within(budget, promisedToOthers); err != nil {
		t.Fatal(err)
	}
	var pools [2]*slab.Pool
	for i := range pools {
		p, err := pool(slab.Config{Strategy: name})(top)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		pools[i] = p
	}
	var m waitModel
	answers := make(chan answer, 100)
	var has []slab.PooledBuffer
	var queue []int // numbers of the calls that wait
	same = true
	take := func() (a answer, any bool) {
		synctest.Wait()
		select {
		case a = <-answers:
			if a.err == nil {
				has = append(has, a.b)
			}
			return a, true
		default:
			return a, false
		}
	}
	ask := func(number int, size int) {
		p := pools[r.IntN(2)]
		go func() {
			if barging {
				if b, err := p.Get(size); err == nil {
					answers <- answer{number, b, nil}
					return
				}
			}
			b, err := p.GetContext(t.Context(), size)
			answers <- answer{number, b, err}
		}()
	}
	giveBack := func() {
		i := r.IntN(len(has))
		b := has[i]
		has = slices.Delete(has, i, i+1)
		n := int64(b.Len())
		if err := b.Release(); err != nil {
			t.Error(err)
		}
		served := queue[:m.release(n)]
		queue = queue[len(served):]
		var got []int // those of one Release are served in order, but may return in another
		for a, any := take(); any; a, any = take() {
			same = same && a.err == nil
			got = append(got, a.number)
		}
		slices.Sort(got)
		same = same && slices.Equal(got, served)
	}
	for number := range 40 {
		if len(has) > 0 && r.IntN(2) == 0 {
			giveBack()
			continue
		}
		size := sizes[r.IntN(len(sizes))]
		want := m.ask(int64(size))
		ask(number, size)
		a, any := take()
		switch want {
		case "waits":
			same = same && !any
			queue = append(queue, number)
		default:
			same = same && any && (a.err == nil) == (want == "served")
		}
		if !same && any && a.err == nil { // the model's figures are no longer the pool's
			break
		}
	}
	for runtime.Gosched(); len(has) > 0; synctest.Wait() {
		_ = has[0].Release()
		has = has[1:]
		for _, any := take(); any; _, any = take() {
		}
	}
	return same
}

func TestCallsInOrder(t *testing.T) {
	// Of others the model does not know when a call is served: sizeclass may serve with twice the bytes, and free
	// extents of a page heap lie apart, by where the caches of a processor have taken them.
	for _, name := range []string{"direct", "exact"} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(20) {
				synctest.Test(t, func(t *testing.T) {
					if !inOrder(t, seed, name, false) {
						t.Errorf("program %d has another result than its model", seed)
					}
				})
			}
		})
	}
}

// A call that tries before it queues is found.
func TestACallThatPassesOthersIsFound(t *testing.T) {
	found := false
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) { found = !inOrder(t, seed, "exact", true) || found })
	}
	if !found {
		t.Error("all programs had the result of their model")
	}
}
