package main

import (
	"io"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// expected is orders without Arrow.
func expected(batches, rows int) (res result) {
	r := rand.New(rand.NewPCG(5, 6))
	for range batches * rows {
		country, count, price := r.IntN(len(countries)), float64(1+r.IntN(40)), 30*r.ExpFloat64()
		if count*price > least {
			res.kept++
			res.worth[country] += count * price
		}
	}
	return res
}

func TestResultsAreRight(t *testing.T) {
	want := expected(3, 700)
	for _, v := range variants {
		c, err := v.measure(3, 700) // Close of a pool reports what is still out
		if err != nil {
			t.Errorf("%s: %v", v.name, err)
		}
		if c.result != want {
			t.Errorf("%s: %v, not %v", v.name, c.result, want)
		}
		if s := c.pool; s.ActiveBlocks+s.ForeignPuts+s.Forgotten != 0 {
			t.Errorf("%s: %+v", v.name, s)
		}
	}
}

// The program releases what it makes.
func TestNothingIsLeft(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	if _, err := orders(mem, 2, 100); err != nil {
		t.Error(err)
	}
}

func TestRun(t *testing.T) {
	if err := run(io.Discard, 1, 50); err != nil {
		t.Error(err)
	}
}
