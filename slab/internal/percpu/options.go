package percpu

import (
	"sync"
	"time"

	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/profile"
	"github.com/bufslab/bufslab/slab/internal/sizeclass"
)

// Options tell a Cache about its pool.
type Options struct {
	Grid       sizeclass.Grid
	Largest    int   // bytes of the largest block that is cached; 0: none
	ExactAbove int   // bytes above which blocks are as long as asked for, until a block is too short; 0: none are
	Bytes      int64 // that a processor may hold
	Depot      int64 // bytes that the depot may hold
	Processors int   // that have caches
	Replayed   bool  // one goroutine uses the Cache, and says by RunOn which processor it is
	// The Managed bytes have an equal part for each processor and for the depot. A processor may
	// hold its part divided by Divisor, but at least Least, and earned blocks, see worth.go. So may
	// the depot.
	Divisor, Least int64

	// Miss is about the time that a hit saves: a Get and a Release without a cache take that much
	// longer, after the program has done its own work.
	Miss time.Duration

	Managed func() int64       // bytes that the pool has from its upstream
	Free    func(handle.Entry) // gives a block back to the strategy; no lock is held
	// Raised is called before a class cache may keep more blocks. The caller is pinned. nil: no call.
	Raised func()

	Pace *profile.Pace // which Gets are sampled; nil: none
	Lock *sync.Mutex   // guards the counts of calls that no class cache serves
}

func (o *Options) blockBytes(class int) int64 { return int64(o.Grid.Size(class)) }
