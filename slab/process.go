package slab

import (
	"strings"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/poolset"
)

// A pool is a member of all pools of the process: see package pressure.
var _ poolset.Member = (*pool)(nil)

// Front returns the program's Pool, or nil if the Pool was closed or forgotten.
func (p *pool) Front() any {
	if front := p.front.Value(); front != nil && !p.closed.Load() {
		return front
	}
	return nil
}

// OffHeapBytes returns the managed bytes of the pool that the collector does not see.
func (l *layers) OffHeapBytes() int64 {
	if !isOffHeap(deviceOf(l.upstream)) {
		return 0
	}
	return l.accounting.Managed()
}

// OffHeapActive returns the active bytes of the pool that the collector does not see.
func (p *pool) OffHeapActive() int64 {
	if !isOffHeap(deviceOf(p.upstream)) {
		return 0
	}
	return p.stats().ActiveBytes
}

// isOffHeap reports whether a device has memory of the machine outside the Go heap. The page-locked
// memory of the simulated device is Go memory.
func isOffHeap(d device.Device) bool {
	if d == nil || !isHost(d) {
		return false
	}
	return d.Name() != "heap" && !strings.HasPrefix(d.Name(), "sim:")
}
