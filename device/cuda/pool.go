//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"math"
	"sync"

	"gorgonia.org/cu"

	"github.com/bufslab/bufslab/device"
)

// memoryPoolsSupported is an attribute that package cu is too old to name.
const memoryPoolsSupported cu.DeviceAttribute = 115

// A pool is memory that the driver keeps for reuse, one for each device that
// is opened, as RMM's cuda_async_memory_resource has it: the driver's
// default pool is shared with the whole program, and gives its memory back at
// every sync unless told otherwise. It keeps what it got until it is closed.
//
// Its calls are work of a stream. What Alloc returns may be used on any, so
// it waits; there is never anything in the queue but allocations.
type pool struct {
	plain
	gpu    *gpu
	handle poolHandle
	queue  cu.Stream

	mu     sync.RWMutex // Close waits for every Alloc that is under way
	closed bool
}

func newPool(g *gpu) (source, error) {
	if !g.can(memoryPoolsSupported) || !poolsLinked() {
		return nil, fmt.Errorf("cuda: GPU %d or its driver has no memory pools: %w", g.ordinal, device.ErrUnavailable)
	}
	q, err := g.queue()
	if err != nil {
		return nil, err
	}
	p := &pool{gpu: g, queue: q}
	err = g.do(func() (err error) {
		p.handle, err = poolCreate(g.ordinal, math.MaxUint64)
		return err
	})
	if err != nil {
		push(g, &g.queues, q)
		return nil, fmt.Errorf("cuda: memory pool of GPU %d: %w", g.ordinal, err)
	}
	return p, nil
}

func (p *pool) alloc(size int) (cu.DevicePtr, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed { // since Alloc has looked
		return 0, device.ErrClosed
	}
	a, err := poolAlloc(p.handle, size, p.queue)
	if err == cu.OutOfMemory {
		// What was freed may still be waiting in the queue.
		if err := p.queue.Synchronize(); err != nil {
			return 0, err
		}
		a, err = poolAlloc(p.handle, size, p.queue)
	}
	if err != nil {
		return 0, err
	}
	return a, p.queue.Synchronize()
}

// free does not wait: the memory is not in use, and reuse comes after it in the queue.
func (p *pool) free(a cu.DevicePtr) error { return poolFree(a, p.queue) }

// close leaves the memory that is still out, and the driver drops the pool
// with the last of it. The queue's next owner may find frees in it: that
// only makes its work later.
func (p *pool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	push(p.gpu, &p.gpu.queues, p.queue)
	return poolDestroy(p.handle)
}
