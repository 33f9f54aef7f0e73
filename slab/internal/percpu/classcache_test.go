package percpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/profile"
)

// touched adds up what the class caches of a class have, and how often they were armed.
func (s *store) touched(class int) (sum, arms uint32) {
	for i := range s.cpus {
		sum += s.cpus[i].caches[class].touched()
		arms += s.cpus[i].arms.Load()
	}
	return sum, arms
}

// After each call, whichever way its block goes, all calls and their bytes are counted, and the blocks that are neither
// in use nor went back. touched has grown by one if a class cache served, and by nothing else.
func TestEachCallCountsOnce(t *testing.T) {
	for name, o := range map[string]Options{
		"plain":   {},
		"exact":   {ExactAbove: 500},
		"sampled": {Pace: profile.NewPace(5000)},
	} {
		o.Largest, o.Bytes, o.Depot, o.Processors, o.Replayed = 4<<10, 70<<10, 80<<10, 2, true
		w := countedWalk{store: openStore(t, o), r: rand.New(rand.NewPCG(5, 8))}
		w.class = w.Class(1000)
		var most int64
		for step := range 4000 {
			if !w.step(t, step) {
				t.Fatalf("%s: at step %d", name, step)
			}
			most = max(most, w.depot.bytes.Load())
		}
		if most == 0 {
			t.Errorf("%s: nothing went through the depot", name)
		}
	}
}

// A countedWalk gets and releases at random, on two processors, and knows how much.
type countedWalk struct {
	*store
	r     *rand.Rand
	class int
	live  []handle.Entry
	sizes []int
	want  Usage
}

func (w *countedWalk) step(t *testing.T, step int) bool {
	w.RunOn(w.r.IntN(2))
	w.mixed[w.class].Store(false) // have it meet short blocks again
	passed, hit := w.counted(), uint32(1)
	before, arms := w.touched(w.class)
	switch up := step/250%2 == 0; {
	case step%400 == 399:
		w.Reclaim(step%800 == 399)
		hit = 0
	case len(w.live) == 0 || up && w.r.IntN(4) > 0:
		size := 900 + w.r.IntN(100)
		w.live, w.sizes = append(w.live, w.get(t, size)), append(w.sizes, size)
		w.want.Hits++
		w.want.Got += int64(size)
	default:
		i := w.r.IntN(len(w.live))
		w.release(w.live[i], w.sizes[i])
		w.want.Releases++
		w.want.Released += int64(w.sizes[i])
		w.live, w.sizes = slices.Delete(w.live, i, i+1), slices.Delete(w.sizes, i, i+1)
	}
	w.want.Blocks, w.want.Bytes = int64(w.made-w.freed-len(w.live)), w.taken
	for _, e := range w.live {
		w.want.Bytes -= int64(e.Slot.Len())
	}
	if w.checkMagazines(); w.Usage() != w.want {
		t.Errorf("%+v, want %+v", w.Usage(), w.want)
	}
	if w.counted() != passed {
		hit = 0
	}
	if after, again := w.touched(w.class); after-before != hit && again == arms {
		t.Errorf("touched grows by %d, want %d", after-before, hit)
	}
	return !t.Failed()
}
