//go:build !bufslab_portable && !race

package pin

import _ "unsafe" // for go:linkname

// ID returns the processor's number, small and dense from 0.
func ID() int {
	id := procPin()
	procUnpin()
	return id
}

// The runtime keeps these two linkable for packages that shard like sync.Pool.

//go:linkname procPin runtime.procPin
//go:noescape
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()
