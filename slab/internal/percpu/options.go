package percpu

import (
	"sync"
	"time"

	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/profile"
	"github.com/bufslab/bufslab/slab/internal/sizeclass"
)

// Options are what a Cache needs to know of its pool.
type Options struct {
	Grid       sizeclass.Grid
	Largest    int   // bytes of the largest block that is cached; 0: none
	ExactAbove int   // bytes above which a block is as long as asked for, until one is too short; 0: no block is
	Bytes      int64 // that a processor may hold
	Depot      int64 // bytes that the depot may hold
	Processors int   // that have caches
	Replayed   bool  // one goroutine uses the Cache, and says by RunOn which processor it is
	// What is Managed has a part for each processor and one for the depot, all equal. A
	// processor may hold its part divided by Divisor, but Least at least, and what classes have
	// earned, see worth.go. So may the depot.
	Divisor, Least int64

	// Miss is about what a Get and a Release take longer that no cache serves, after the program has
	// done its own work: so much a hit saves.
	Miss time.Duration

	Managed func() int64       // bytes that the pool has from its upstream
	Free    func(handle.Entry) // gives a block back to the strategy; no lock is held

	Pace *profile.Pace // which Gets are sampled; nil: none
	Lock *sync.Mutex   // guards the counts of what no class cache serves
}

func (o *Options) blockBytes(class int) int64 { return int64(o.Grid.Size(class)) }
