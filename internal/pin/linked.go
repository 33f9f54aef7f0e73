//go:build !bufslab_portable && !race

package pin

import (
	"runtime"
	_ "unsafe" // for go:linkname
)

// Exclusive says that a pinned goroutine is alone on its processor.
const Exclusive = true

// The runtime keeps these two linkable, for packages that shard like sync.Pool.

// Pin returns the processor's number, dense from 0 and below GOMAXPROCS.
//
//go:linkname Pin runtime.procPin
//go:noescape
func Pin() int

// Unpin undoes Pin.
//
//go:linkname Unpin runtime.procUnpin
//go:noescape
func Unpin()

// Fence returns when every goroutine that was pinned when it was called has
// unpinned. Reading the memory statistics stops the world, and the runtime
// cannot stop a pinned goroutine. A test holds the runtime to that.
func Fence() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
}
