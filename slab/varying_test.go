package slab

import (
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// varied runs 300 steps of 36 blocks, of three sizes that a random length gives, up to 90 MB. It returns the peak of
// managed bytes, divided by the bytes of the largest step. What caches earn goes by time, so the clock is a replay's.
func varied(t *testing.T, dev string, c Config) float64 {
	t.Helper()
	p := onOneProcessor(t, openPool(t, dev, c))
	r := rand.New(rand.NewPCG(1, 2))
	var largest int64
	for range 300 {
		var step int64
		var out []PooledBuffer
		for l, i := 128+r.IntN(3968), 0; i < 36; i++ {
			n := []int{l * 8192, l * l * 2, l * 22016}[i%3]
			out, step = append(out, mustGet(t, p, n)), step+int64(n)
		}
		releaseAll(t, out)
		largest = max(largest, step)
	}
	ratio := float64(p.Stats().PeakManagedBytes) / float64(largest)
	check.Must(t, p.Close())
	return ratio
}

// Large blocks whose sizes vary from step to step are not cached, so that a step takes the memory of the one before.
func TestStepsOfVaryingSizesShareTheirMemory(t *testing.T) {
	t.Parallel() // with pools of its own
	atLength(t)
	for dev, most := range map[string]float64{"mmap": 1.05, "virtual": 1.05, "virtual:fixed": 1.15, "sim:4GiB": 1.15, "heap": 1.15} {
		for _, s := range []string{"slab", "bestfit"} {
			if by := varied(t, dev, Config{Strategy: s}); by > most {
				t.Errorf("%s, %s: %.2f times the largest step is managed, want %.2f", dev, s, by, most)
			}
		}
	}
}
