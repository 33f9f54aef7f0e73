package pin

import "runtime"

// Fence does what Barrier does, on every system: reading the memory statistics stops
// the world, which takes up to a millisecond. The runtime cannot stop a goroutine that
// it has pinned: where it does the pinning, those that were pinned when Fence was called
// have unpinned when it returns. A test holds the runtime to that.
func Fence() {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
}
