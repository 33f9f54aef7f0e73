package handle

import (
	"sync"
	"unsafe"
)

// A shared is the state that all regions of a Table share.
type shared struct {
	owner   unsafe.Pointer
	options Options
	// Called for a slot that the collector has found dead: a slot with a block, or a part.
	slotDead, partDead func(*Slot)

	parts *sync.Pool // of *partial, whose parts have ended; apart, as the runtime keeps it for a while

	watchedBytes lockedNumber

	mu       *sync.Mutex // Options.Lock, taken before the locks that Options.Forgotten takes
	index    index
	refs     references[partial]
	doubted  map[ID]uint64 // generations of slots that doubts was asked about
	deferred Tally
	stopped  bool // no vacant slot is kept
}

// WatchedBytes returns the bytes of blocks that only a finalizer would find
// forgotten: the garbage collector does not see that memory.
func (t *shared) WatchedBytes() int64 { return int64(t.watchedBytes.Load()) }

// Deferred counts the blocks that the table keeps until the collector has
// reported their region dead.
func (t *shared) Deferred() Tally {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.deferred
}
