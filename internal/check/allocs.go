package check

import "testing"

// Allocs returns what [testing.AllocsPerRun] counts, in the best of five times. That counts
// what all goroutines allocate, and a collection may have cleanups of earlier tests run
// beside f. What f allocates is there each time.
func Allocs(runs int, f func()) float64 {
	least := testing.AllocsPerRun(runs, f)
	for again := 4; again > 0 && least > 0; again-- {
		least = min(least, testing.AllocsPerRun(runs, f))
	}
	return least
}
