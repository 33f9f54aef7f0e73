//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"fmt"

	"gorgonia.org/cu"

	"github.com/bufslab/bufslab/device"
)

// plain is memory of the GPU alone.
type plain struct{}

func newPlain(*gpu) (source, error) { return plain{}, nil }

func (plain) alloc(size int) (cu.DevicePtr, error)    { return cu.MemAlloc(int64(size)) }
func (plain) free(p cu.DevicePtr) error               { return cu.MemFree(p) }
func (plain) reachable() bool                         { return false }
func (plain) memInfo() (free, total int64, err error) { return cu.MemInfo() }
func (plain) close() error                            { return nil }

// managed is memory that moves to the processor that touches it.
type managed struct{ plain }

// newManaged refuses GPUs that must not be at work while the CPU touches
// managed memory: the program would be ended by a fault whenever a pool
// looks at its own.
func newManaged(g *gpu) (source, error) {
	if !g.can(cu.ManagedMemory) || !g.can(cu.ConcurrentManagedAccess) {
		return nil, fmt.Errorf("cuda: GPU %d does not share managed memory with the CPU while it works: %w", g.ordinal,
			device.ErrUnavailable)
	}
	return managed{}, nil
}

func (managed) alloc(size int) (cu.DevicePtr, error) {
	return cu.MemAllocManaged(int64(size), cu.AttachGlobal)
}
func (managed) reachable() bool { return true }

// pinned is page-locked memory of the host. Its addresses are those of the
// GPU too, as all are since CUDA has one space for both.
type pinned struct{}

func (pinned) alloc(size int) (cu.DevicePtr, error) { return hostAlloc(size) }
func (pinned) free(p cu.DevicePtr) error            { return hostFree(p) }
func (pinned) reachable() bool                      { return true }
func (pinned) close() error                         { return nil }

// memInfo is that of heap: it is memory of the machine.
func (pinned) memInfo() (free, total int64, err error) {
	heap, err := device.Open("heap")
	if err != nil {
		return 0, 0, err
	}
	return heap.MemInfo()
}
