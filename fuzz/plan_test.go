package fuzz_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/bufslab/bufslab/fuzz"
	"github.com/bufslab/bufslab/internal/learned"
	"github.com/bufslab/bufslab/slab"
)

// firstWild is the size of the first block of a wild plan: without it the plan is dropped.
const firstWild = 24

// wild returns a Config with a plan that has places for what programs of the models ask for:
// many overlap, some are odd, and few are where a planner would put them.
func wild(t testing.TB, seed uint64) slab.Config {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 6))
	hints := []learned.Hint{{Size: firstWild, Off: 0}, {Size: 1 << 18, Off: 0}} // the second leaves no gaps
	for range 3000 {
		off := 16 * r.IntN(8<<10)
		if r.IntN(50) == 0 {
			off = r.IntN(1 << 17)
		}
		hints = append(hints, learned.Hint{Size: 1 + r.IntN(1<<r.IntN(17)), Off: off})
	}
	file := filepath.Join(t.TempDir(), "plan")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := learned.WritePlan(f, learned.Plan{hints}); err != nil {
		t.Fatal(err)
	}
	return slab.Config{Strategy: "plan", Plan: file}
}

// begun returns factories of strategies with a wild plan that has begun.
func begun(c slab.Config) factory {
	return func(u slab.Allocator) slab.Allocator {
		s := with("plan", c)(u)
		if b, err := s.Alloc(firstWild); err == nil {
			s.Free(b)
		}
		return s
	}
}

// begunPool is begun for pools.
func begunPool(c slab.Config) func(slab.Allocator) (*slab.Pool, error) {
	return func(u slab.Allocator) (*slab.Pool, error) {
		p, err := pool(c)(u)
		if err != nil {
			return nil, err
		}
		if b, err := p.Get(firstWild); err == nil {
			return p, b.Release()
		}
		return p, nil
	}
}

// Whatever a plan says, a strategy that has it does what all of them do.
func TestStrategiesWithAPlan(t *testing.T) {
	for kind, o := range map[string]fuzz.Option{"ranges": fuzz.Ranges(), "segments": fuzz.NoRange()} {
		for seed := range uint64(2) {
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				fuzz.CheckAllocator(t, begun(wild(t, seed)), o, fuzz.Align(16), fuzz.Hostile())
			})
		}
	}
}

// So do pools, on every memory.
func TestPoolsWithAPlan(t *testing.T) {
	for _, dev := range []string{"", "heap", "mmap", "sim:late=1"} {
		t.Run(dev, func(t *testing.T) {
			t.Parallel()
			var options []fuzz.Option
			if dev != "" {
				options = append(options, fuzz.OnDevice(opener(dev)))
			}
			fuzz.CheckPool(t, begunPool(wild(t, 3)), options...)
		})
	}
}
