// Package blocktable measures what a pool takes for equal large blocks, and how large a
// block it can serve then, for tests of pools on any device.
package blocktable

import (
	"math"
	"testing"
)

// A Pool is what is measured.
type Pool struct {
	Get     func(size int) (release func(), err error)
	Managed func() int64 // bytes from the device
}

// Run opens a pool for each row of the table, 1 to 100 blocks of each size: on a device
// of capacity bytes, or with that budget. It logs the table and fails where the pool
// manages more than 1.05 times what is live, or where the largest block that can be had
// is less than 98 % of what is free.
func Run(t *testing.T, sizes []int, open func(capacity int64) Pool) {
	t.Log("| blocks | bytes each | managed / live | largest / free |")
	t.Log("|--:|--:|--:|--:|")
	for _, size := range sizes {
		for _, n := range []int{1, 3, 5, 12, 20, 100} {
			if n > math.MaxInt/size/8 {
				continue // where an int has 32 bits
			}
			live := n * size
			free := live * 7 / 10
			if n < 12 {
				free = 2 * live // room to take too much
			}
			p := open(int64(live + free))
			releases := fill(t, p, n, size)
			managed := float64(p.Managed()) / float64(live)
			largest := float64(largestOf(p, free)) / float64(free)
			t.Logf("| %d | %d | %.3f | %.3f |", n, size, managed, largest)
			if managed > 1.05 || largest < 0.98 {
				t.Errorf("%d blocks of %d bytes: want managed <= 1.05 live, largest >= 0.98 free", n, size)
			}
			for _, release := range releases {
				release()
			}
		}
	}
}

// Worst gets 30 blocks from p, of the sizes in turns, and returns the most that p managed for three or
// more of them, by what was live. Before them it gets a block of first bytes, unless that is 0,
// and what p manages then does not count. All is released when the test ends.
func Worst(t *testing.T, p Pool, first int, sizes ...int) (worst float64) {
	t.Helper()
	get := func(size int) {
		release, err := p.Get(size)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(release)
	}
	if first > 0 {
		get(first)
	}
	before, live := p.Managed(), 0
	for i := range 30 {
		size := sizes[i%len(sizes)]
		get(size)
		if live += size; i >= 2 {
			worst = max(worst, float64(p.Managed()-before)/float64(live))
		}
	}
	return worst
}

func fill(t *testing.T, p Pool, n, size int) (releases []func()) {
	t.Helper()
	for range n {
		release, err := p.Get(size)
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, release)
	}
	return releases
}

// largestOf returns the largest block of at most n bytes that p has, within n/1024.
func largestOf(p Pool, n int) int {
	least, most := 0, n+1 // had, not had
	for most-least > max(1, n/1024) {
		size := least + (most-least)/2
		if least == 0 {
			size = n // the first try
		}
		release, err := p.Get(size)
		if err != nil {
			if most = size; least == 0 && size == n {
				least = 1
			}
			continue
		}
		release()
		least = size
	}
	return least
}
