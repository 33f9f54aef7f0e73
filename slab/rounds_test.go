package slab

import (
	"iter"
	"os"
	"runtime"
	"testing"
	"time"
)

// long says how often a test repeats what finds a rare fault: as often as the variable
// BUFSLAB_STRESS says, else as usual, and less where each step is slow.
func long(t testing.TB, usual int) int {
	if v := os.Getenv("BUFSLAB_STRESS"); v != "" {
		return int(number(t, v))
	}
	if testing.Short() || raceEnabled || sanitized {
		return max(1, usual/5)
	}
	return usual
}

// atLength skips a test with -short that says the same in each build, and takes long.
func atLength(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("other builds find nothing else by it")
	}
}

// upTo counts rounds by number only: for a test that has to find something.
func upTo(most int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < most && yield(i); i++ {
		}
	}
}

// bounded counts up to most rounds, and ends before that when the budget is over, unless
// BUFSLAB_STRESS is set. Now and then it lets others run.
func bounded(t testing.TB, most int, budget time.Duration) iter.Seq[int] {
	end, bound := time.Now().Add(budget), os.Getenv("BUFSLAB_STRESS") == ""
	return func(yield func(int) bool) {
		for i := range most {
			if bound && time.Now().After(end) {
				t.Logf("%d of %d rounds in %v", i, most, budget)
				return
			}
			if i%64 == 63 {
				runtime.Gosched()
			}
			if !yield(i) {
				return
			}
		}
	}
}
