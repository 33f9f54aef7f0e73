//go:build !bufslab_portable && !race

package pin

import _ "unsafe" // for go:linkname

// Exclusive says that no two pinned goroutines have one number below Numbers.
const Exclusive = true

// ByRuntime says that the runtime does the pinning: it cannot stop a pinned goroutine, and
// so no collection ends while one is pinned.
const ByRuntime = true

// A Processor is what a pinned goroutine owns.
type Processor int

// ID returns the processor's number, dense from 0 and below GOMAXPROCS.
func (p Processor) ID() int { return int(p) }

// Numbers returns below what numbers are, until GOMAXPROCS is raised.
func Numbers() int { return processors() }

// The runtime keeps these two linkable, for packages that shard like sync.Pool.

// Pin gives the goroutine its processor.
//
//go:linkname Pin runtime.procPin
//go:noescape
func Pin() Processor

// Unpin undoes Pin. The runtime's has no parameter, and does not look at this one.
//
//go:linkname Unpin runtime.procUnpin
//go:noescape
func Unpin(Processor)
