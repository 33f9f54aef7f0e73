package fuzz_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/fuzz"
	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/slab"
)

func growing(c growpool.Config) func(*slab.Pool) *growpool.Pool[string] {
	return func(below *slab.Pool) *growpool.Pool[string] { return growpool.New[string](below, c) }
}

func TestGrowPools(t *testing.T) {
	for name, c := range map[string]growpool.Config{
		"exact": {}, "pow2": {Growth: growpool.Pow2}, "factor": {Growth: growpool.Factor(1.5)}, "steps": {Growth: growpool.Steps(16)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fuzz.CheckGrowPool(t, growing(c))
		})
	}
}

func TestGrowPoolsWithABudget(t *testing.T) {
	for name, bytes := range map[string]int64{"small": 10_000, "ample": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fuzz.CheckGrowPool(t, growing(growpool.Config{MaxBytes: bytes}), fuzz.MaxBytes(bytes), fuzz.Capacity(1<<30))
		})
	}
}

func TestGrowPoolsOnDevices(t *testing.T) {
	for _, dev := range []string{"heap", "mmap"} {
		t.Run(dev, func(t *testing.T) {
			t.Parallel()
			fuzz.CheckGrowPool(t, growing(growpool.Config{}), fuzz.OnDevice(opener(dev)))
		})
	}
}

// A device without memory that the CPU reaches is no fault of the pool, and the check says so.
func TestGrowPoolsNeedHostMemory(t *testing.T) {
	quick(t)
	for _, dev := range []string{"sim", "virtual"} {
		text := verdict(t, fuzz.GrowPoolProperty(growing(growpool.Config{}), fuzz.OnDevice(opener(dev))))
		if says := "the CPU does not reach the memory of " + dev; !strings.Contains(text, says) {
			t.Errorf("no word of %q in %q", says, text)
		}
	}
}

// Pools that are not what the check was told are found out.
func TestFaultsOfGrowPoolsAreFound(t *testing.T) {
	quick(t)
	heap, err := slab.OpenConfig(slab.Config{})
	if err != nil {
		t.Fatal(err)
	}
	shared := growpool.New[string](heap, growpool.Config{})
	var restless *growpool.Pool[string] // of the last program: its clock runs until it is closed
	rest := func() {
		if restless == nil {
			return
		}
		if err := restless.Close(); err != nil {
			t.Log(err) // a program that failed has left leases out
		}
	}
	defer rest()
	idle := func(below *slab.Pool) *growpool.Pool[string] {
		rest()
		restless = growing(growpool.Config{IdleAfter: 1})(below)
		return restless
	}
	for says, f := range map[string]struct {
		open    func(*slab.Pool) *growpool.Pool[string]
		options []fuzz.Option
	}{
		"bytes allowed":        {growing(growpool.Config{}), []fuzz.Option{fuzz.MaxBytes(5000)}},
		"out of the slab.Pool": {func(*slab.Pool) *growpool.Pool[string] { return growpool.New[string](heap, growpool.Config{}) }, nil},
		"requests were served|without a request|pool closed": {func(*slab.Pool) *growpool.Pool[string] { return shared }, nil},
		"without a request|replaced it|want":                 {idle, nil},
	} {
		text, found := "", false
		for range 20 { // time decides which of its faults a pool shows first
			text = verdict(t, fuzz.GrowPoolProperty(f.open, f.options...))
			if found = regexp.MustCompile(says).MatchString(text); found {
				break
			}
		}
		if !found {
			t.Errorf("no word of %q in %q", says, text)
		}
	}
}

// FuzzGrowPool lets the fuzzer choose the program and the policy.
func FuzzGrowPool(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		policy := rapid.SampledFrom([]growpool.Growth{growpool.Exact, growpool.Pow2, growpool.Steps(8)}).Draw(t, "policy")
		fuzz.GrowPoolProperty(growing(growpool.Config{Growth: policy}))(t)
	}))
}
