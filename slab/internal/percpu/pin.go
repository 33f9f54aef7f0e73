//go:build !race

package percpu

import (
	"runtime"
	"sync/atomic"

	"github.com/bufslab/bufslab/internal/pin"
)

// Pin returns the processor. Until Unpin its caches belong to the caller, which must
// not lock, allocate, or panic; see package pin.
func (c *Cache) Pin() pin.Processor { return pin.Pin() }

// Unpin undoes Pin.
func (c *Cache) Unpin(p pin.Processor) { pin.Unpin(p) }

// quiesce waits until every goroutine that read the old limit of a class cache has
// left it.
//
// A pinned goroutine marks itself busy by a plain store, and then reads a limit.
// After a barrier on all processors either we see the mark, or the goroutine sees the
// new limit: Dekker's algorithm with the whole cost on this side. Where stores are not
// seen in order, a second barrier makes the goroutine's changes visible to us.
func (c *Cache) quiesce() {
	barrier()
	for i := range c.cpus {
		untilIdle(&c.cpus[i].busy)
	}
	for i := range c.caches {
		untilIdle(&c.caches[i].busy)
	}
	if !storesInOrder {
		barrier()
	}
}

// barrier stops the world where the system has no barrier on all processors.
func barrier() {
	if !pin.Barrier() {
		pin.Fence()
	}
}

// storesInOrder says that a processor which sees a store sees all earlier stores.
const storesInOrder = runtime.GOARCH == "amd64" || runtime.GOARCH == "386"

func untilIdle(busy *uint32) {
	for atomic.LoadUint32(busy) != 0 {
		runtime.Gosched()
	}
}
