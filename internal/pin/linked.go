//go:build !bufslab_portable && !race

package pin

import (
	"runtime"
	_ "unsafe" // for go:linkname
)

// Exclusive says that whoever is pinned is alone on its processor.
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

// Fence returns when everybody who was pinned when it was called has been
// unpinned since: reading the memory statistics stops the world, and who is
// pinned cannot be stopped. A test holds the runtime to that.
func Fence() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
}
