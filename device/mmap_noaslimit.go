//go:build openbsd || windows

package device

// addressLimit returns the largest uint64: there is no such limit here.
func addressLimit() uint64 { return ^uint64(0) }
