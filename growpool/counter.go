package growpool

import (
	"math/bits"
	"runtime"
	"sync/atomic"

	"github.com/bufslab/bufslab/internal/pin"
)

// A counter counts exactly and costs a hit little: a goroutine pins itself to a
// processor and adds to the processor's number by a plain instruction. Numbers of one
// counter share a cache line, but two counters do not: mostly one goroutine uses a key.
type counter struct {
	per  []int64      // by processor; written only while pinned to it
	rest atomic.Int64 // of processors that came later, and of the race detector's build
}

// plain says that a processor's number is its own, and is not torn.
const plain = pin.Exclusive && bits.UintSize == 64

const lineBytes = 64

func (c *counter) init() {
	if plain {
		c.per = make([]int64, max(lineBytes/8, runtime.GOMAXPROCS(0)))
	}
}

func (c *counter) add() {
	if !plain {
		c.rest.Add(1)
		return
	}
	on := pin.Pin()
	if id := on.ID(); id < len(c.per) {
		c.per[id]++
	} else {
		c.rest.Add(1)
	}
	pin.Unpin(on)
}

// load returns the sum: exact when no add runs.
func (c *counter) load() int64 {
	n := c.rest.Load()
	for i := range c.per {
		n += c.per[i]
	}
	return n
}
