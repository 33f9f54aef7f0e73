package slab

import (
	"testing"

	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
)

// What the process counts is memory of the machine that the collector does not see.
func TestOffHeapMemoryOfAPool(t *testing.T) {
	for dev, off := range map[string]bool{"heap": false, "mmap": true, "mmap:fixed": true, "virtual": false, "sim": false} {
		p := openPool(t, dev, Config{})
		b := mustGet(t, p, 100<<10)
		bytes, active := p.pool.OffHeapBytes(), p.pool.OffHeapActive()
		if off && (bytes < active || active != 100<<10) || !off && (bytes != 0 || active != 0) {
			t.Errorf("%s: %d bytes, %d active", dev, bytes, active)
		}
		mustRelease(t, b)
		if n := p.pool.OffHeapActive(); n != 0 {
			t.Errorf("%s: %d active after Release", dev, n)
		}
	}
	if isOffHeap(nil) || isOffHeap(check.Ok(sim.New(1<<20).Pinned())(t)) { // which is Go memory
		t.Error("no device, or one of Go memory, is off the heap")
	}
}

// The front of a pool is the program's Pool, until that is closed.
func TestFrontOfAPool(t *testing.T) {
	p := openPool(t, "heap", Config{})
	if p.pool.Front() != any(p) {
		t.Errorf("%v", p.pool.Front())
	}
	check.Must(t, p.Close())
	if front := p.pool.Front(); front != nil {
		t.Errorf("a closed pool has the front %v", front)
	}
}
