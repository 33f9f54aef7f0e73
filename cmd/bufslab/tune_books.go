package main

import (
	"cmp"

	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/trace"
)

// What a pool keeps on the Go heap for its records is estimated, too, in bytes: what the
// runtime says depends on when it collects.
const (
	slotBytes     = 64   // of each block that is out
	extentBytes   = 48   // of each that has an extent of its own: bestfit, and slab above 256 bytes
	wholeBytes    = 120  // of each that is in a map: exact, bitlog, direct, and sizeclass above 32 KiB
	classBytes    = 64   // of each size class, where there are caches
	magazineBytes = 1100 // of the two magazines of a class that is in use
)

// A crowd counts the allocations of a trace where the most are live, and its size classes.
type crowd struct {
	all, above256, above32K int64 // live at a time, each at most
	used                    int64 // classes
}

// finest are the classes of the caches before a page heap.
var finest = slab.Grid(8, 16)

func crowdOf(t *trace.Trace) (most crowd) {
	var live crowd
	used := map[int]bool{}
	sizes := map[uint64]int{}
	for op := range t.Ops() {
		switch op.Kind {
		case trace.Free, trace.Grow:
			live.add(sizes[op.ID], -1)
		}
		switch op.Kind {
		case trace.Alloc, trace.Grow:
			used[finest.Index(op.Size)] = true
			sizes[op.ID] = op.Size
			live.add(op.Size, 1)
		}
		most.all, most.above256 = max(most.all, live.all), max(most.above256, live.above256)
		most.above32K = max(most.above32K, live.above32K)
	}
	most.used = int64(len(used))
	return most
}

// add counts that n more allocations of a size are live.
func (k *crowd) add(size int, n int64) {
	k.all += n
	if size > 256 {
		k.above256 += n
	}
	if size > 32<<10 {
		k.above32K += n
	}
}

// books returns the bytes of the records of a pool for such a crowd.
func (k crowd) books(c slab.Config) int64 {
	n := slotBytes * k.all
	cached := c.CacheBytes >= 0
	switch cmp.Or(c.Strategy, usual(c.Device)) {
	case "slab":
		n += extentBytes * k.above256
	case "bestfit":
		n += extentBytes * k.all
	case "sizeclass":
		n += wholeBytes * k.above32K
	default:
		n += wholeBytes * k.all
		cached = false
	}
	if cached {
		n += classBytes*int64(finest.Index(32<<20)) + magazineBytes*k.used
	}
	return n
}

// usual returns the strategy of a pool that is not told one.
func usual(device string) string {
	if device == "heap" {
		return "sizeclass"
	}
	return "slab"
}
