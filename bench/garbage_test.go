//go:build !race

package main

import (
	"runtime"
	"testing"
)

// Under the race detector sync.Pools forget at random, and so allocate.
func TestGarbageIsFound(t *testing.T) {
	w := workload{kind: hotPair, size: 4 << 10, procs: 1}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, c := range all() {
		e := &entrant{player: c.start(w), ops: 1 << 10}
		if want := c.name == "make" || c.name == "arrow"; e.allocates() != want {
			t.Errorf("%s leaves garbage: %v", c.name, !want)
		}
		e.close()
	}
}
