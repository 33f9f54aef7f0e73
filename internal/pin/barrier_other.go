//go:build !linux

package pin

// Barrier makes every thread of the process that runs pass a full memory
// barrier before it returns; those that do not run pass one before they do. It
// reports false, having done nothing, where the system cannot do that, as here.
func Barrier() bool { return false }

// Prepare does nothing: there is no Barrier to prepare.
func Prepare() {}

// Ready does nothing.
func Ready() {}
