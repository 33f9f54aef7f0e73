// Package pressure is about the memory of the whole process: all pools together, and what the garbage
// collector should know of memory that it does not see.
//
//	for p := range pressure.Pools() { ... }         // the pools that are open
//	n := pressure.FreeAll()                         // give back all that they hold
//	stop := pressure.AdjustMemoryLimit(512 << 20)   // the heap and the pools together
//	defer stop()
//
// A pool gives back what it holds by itself, as the system runs short of memory, if its line has
// pressure=on: see Config.Pressure of package slab. docs/containers.md says what to set in a container.
//
// All functions are safe for concurrent use.
package pressure

import (
	"fmt"
	"iter"

	"github.com/bufslab/bufslab/internal/memlimit"
	"github.com/bufslab/bufslab/internal/poolset"
	"github.com/bufslab/bufslab/slab"
)

// Pools returns the pools of the process that are open, in the order in which they were opened, those of
// growpool's and unified's own among them. It keeps none of them alive. A loop sees the pools that were there
// when it began; a pool may be closed meanwhile. Pools of a replay are none of them.
func Pools() iter.Seq[*slab.Pool] {
	return func(yield func(*slab.Pool) bool) {
		for _, m := range poolset.All() {
			if p, ok := m.Front().(*slab.Pool); ok && p != nil && !yield(p) {
				return
			}
		}
	}
}

// FreeAll calls FreeHeld of all Pools, and returns the bytes that went back to their devices. Those of
// device heap go to the garbage collector. It waits for no stream, and does not ask those who keep
// buffers of a pool. What others take or give back beside it can make the number too small.
func FreeAll() (bytes int64) {
	for p := range Pools() {
		before := p.Stats().ManagedBytes
		p.FreeHeld()
		bytes += max(0, before-p.Stats().ManagedBytes)
	}
	return bytes
}

// OffHeapBytes returns the managed bytes of all pools of host memory that the collector does not see:
// those on mmap, and page-locked memory. A pool that was closed or forgotten counts as long as
// buffers of it are out. Memory of GPUs is none of it, and neither is device virtual, which has no memory.
func OffHeapBytes() int64 { return poolset.OffHeapBytes() }

// AdjustMemoryLimit keeps the runtime's soft memory limit, that of debug.SetMemoryLimit, at total bytes less
// OffHeapBytes, until stop is called: the collector runs earlier as the pools grow. It follows
// within some 100 ms. stop restores the limit that was there before; further calls of it do nothing.
//
// A limit that the program has set, by GOMEMLIMIT or debug.SetMemoryLimit, is honoured: what is off
// the heap is taken off it, and never added to it. A total of 0 takes that limit, and so does a
// total above it. Without one, AdjustMemoryLimit(0) does nothing. The heap keeps a sixteenth of the total
// at least. If AdjustMemoryLimit is called several times, the least total counts.
//
// It is for programs that know what the process may have. It does not bound what pools take: that is
// Config.MaxBytes. Do not call debug.SetMemoryLimit before stop. It panics if total is negative.
func AdjustMemoryLimit(total int64) (stop func()) {
	if total < 0 {
		panic(fmt.Sprintf("pressure: AdjustMemoryLimit of %d bytes", total))
	}
	return memlimit.Adjust(total, poolset.OffHeapBytes)
}
