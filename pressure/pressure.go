// Package pressure is about the memory of the whole process: all pools together, and the limit of a
// garbage collector that does not see memory off the heap.
//
//	for p := range pressure.Pools() { ... }         // the pools that are open
//	n := pressure.FreeAll()                         // give back held memory, also what growpool and unified keep
//	stop := pressure.AdjustMemoryLimit(512 << 20)   // the heap and the pools together
//	defer stop()
//	defer pressure.AdjustGCPercent()()              // as many collections as if the pools were on the heap
//
// With pressure=on in its line a pool gives held memory back by itself when the system runs short of
// memory: see Config.Pressure of package slab. docs/containers.md says what to set in a container.
//
// All functions are safe for concurrent use.
package pressure

import (
	"fmt"
	"iter"
	"slices"

	"github.com/bufslab/bufslab/internal/gcpercent"
	"github.com/bufslab/bufslab/internal/memlimit"
	"github.com/bufslab/bufslab/internal/poolset"
	"github.com/bufslab/bufslab/slab"
)

// Pools returns the open pools of the process, in the order in which they were opened, also pools that
// unified has opened. It keeps none of them alive. A loop sees the pools that were open when it began; a
// pool may be closed meanwhile. Pools of a replay are not listed.
func Pools() iter.Seq[*slab.Pool] {
	return func(yield func(*slab.Pool) bool) {
		for _, m := range poolset.All() {
			if p, ok := m.Front().(*slab.Pool); ok && !yield(p) {
				return
			}
		}
	}
}

// FreeAll has all Pools give back held memory, and first has keepers of their buffers release what is idle: keys of
// growpool that leases alone have shown, and released buffers of unified. It returns the bytes that went back to
// devices. Bytes of device heap go to the garbage collector. FreeAll waits for no stream. Other calls during FreeAll
// can make the number too small.
func FreeAll() (bytes int64) {
	pools := slices.Collect(Pools())
	before := managed(pools)
	for _, m := range poolset.All() {
		if m.Front() != nil {
			m.GiveNow()
		}
	}
	return max(0, before-managed(pools))
}

func managed(pools []*slab.Pool) (bytes int64) {
	for _, p := range pools {
		bytes += p.Stats().ManagedBytes
	}
	return bytes
}

// OffHeapBytes returns the managed bytes of all pools of host memory that the collector does not see:
// mmap and page-locked memory. A pool that was closed or forgotten counts as long as it has active
// buffers. Memory of GPUs does not count, nor does device virtual, which has no memory.
func OffHeapBytes() int64 { return poolset.OffHeapBytes() }

// AdjustMemoryLimit keeps the runtime's soft memory limit (see debug.SetMemoryLimit) at total bytes less
// OffHeapBytes, until stop is called: the collector runs earlier as the pools grow. The limit follows
// within some 100 ms. stop restores the earlier limit; further calls of stop do nothing.
//
// A limit that the program has set, by GOMEMLIMIT or debug.SetMemoryLimit, is never exceeded: it is the
// total if total is 0 or above it. If the program has set none, AdjustMemoryLimit(0) does nothing. The
// heap keeps at least a sixteenth of the total. If AdjustMemoryLimit is called several times, the least
// total counts.
//
// AdjustMemoryLimit is for programs that know how much memory the process may have. It does not bound
// the memory of pools: Config.MaxBytes does. Do not call debug.SetMemoryLimit before stop.
// AdjustMemoryLimit panics if total is negative.
func AdjustMemoryLimit(total int64) (stop func()) {
	if total < 0 {
		panic(fmt.Sprintf("pressure: AdjustMemoryLimit of %d bytes", total))
	}
	return memlimit.Adjust(total, poolset.OffHeapBytes)
}

// AdjustGCPercent has the collector begin where it would if the active bytes of all pools off the heap were on it:
// as many collections as on the heap, and at most its memory. So a program that moves its buffers to mmap does not
// collect more often than before. The percentage of debug.SetGCPercent follows within some 100 ms. stop restores it;
// further calls of stop do nothing.
//
// The percentage that the program has set, by GOGC or debug.SetGCPercent, is the one of both together, also if it is
// set later; below 0 the collector stays off. A memory limit still holds: with AdjustMemoryLimit the limit, less what
// the pools have, bounds the heap.
//
// It is not for a program that moved to mmap for a smaller heap: there it gives the memory back that was saved.
func AdjustGCPercent() (stop func()) { return gcpercent.Adjust(poolset.OffHeapActive) }
