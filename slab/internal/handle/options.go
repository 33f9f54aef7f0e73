package handle

import (
	"sync"

	"github.com/bufslab/bufslab/device"
)

// Options tell a Table about its pool.
type Options struct {
	Lock *sync.Mutex // guards the Table

	WatchCollected bool // regions that the garbage collector owns may be watched
	WatchFrom      int  // bytes from which a block off the Go heap has a finalizer

	WatchUnreachableFrom int // the same for memory that the CPU cannot reach

	// Forgotten is called for each forgotten block, with the table locked. The
	// generation of its owner has ended. escaped says that a slice of the memory may still
	// be in use, so that the block must not be handed out again. Forgotten reports whether
	// streams still use the block: then the pool frees it later.
	Forgotten func(e Entry, escaped bool) (inUse bool)
	// PartForgotten is called for each forgotten part of root except the last forgotten
	// handle of a block, for which Forgotten is called. part is nil on the Go heap, where the
	// part is not known.
	PartForgotten func(root, part *Slot)
	// Found is called for each region that the collector has found dead and in which no
	// block has a slot, once the region has its memory back. No lock is held.
	Found func(device.Region)
	// Free takes forgotten blocks back for the strategy, Quarantine takes an escaped
	// block. No lock is held.
	Free       func([]Allocation)
	Quarantine func(Allocation)
}

// An Allocation is a block with its number in the strategy.
type Allocation struct {
	Block  device.Block
	Extent int32 // 0 if the strategy numbers no blocks
}

func allocation(b device.Block, extent int32) Allocation { return Allocation{b, extent} }

// A Tally counts blocks and bytes. Its owner's lock guards it.
type Tally struct{ Blocks, Bytes int64 }

// Add counts a block of n bytes, Sub takes it from the count.
func (t *Tally) Add(n int) { t.Blocks++; t.Bytes += int64(n) }

// Sub undoes Add.
func (t *Tally) Sub(n int) { t.Blocks--; t.Bytes -= int64(n) }
