package growpool

import (
	"runtime"
	"slices"
	"sync"

	"github.com/dgraph-io/ristretto/v2"
)

// A policy asks a cache which keys keep their buffers. The cache must answer at
// once: the policy makes one change at a time, and waits until the change has
// taken effect. So there is no pending value, no second value of a key, and no
// change during Close.
//
// The cache may drop a buffer at any change, more than once, and for any reason.
// Its callback collects dropped buffers, and the method that made the change
// returns them. The policy ignores the value of the cache's Get: the cache may
// have dropped it before.
type policy struct {
	mu    sync.Mutex
	cache cache

	closing sync.RWMutex // the cache's Gets against its Close
	closed  bool         // written under both locks, read under either

	exitMu sync.Mutex // leaf: the callback takes it while mu is held
	exits  []*buffer
}

// A cache has the methods of a ristretto.Cache that a policy needs.
type cache interface {
	Get(id uint64) (*buffer, bool)
	Set(id uint64, b *buffer, cost int64) bool
	Del(id uint64)
	Wait()
	Clear()
	Close()
}

// newPolicy returns a policy whose cache has room for that many bytes.
func newPolicy(room, maxBytes int64) *policy {
	y := new(policy)
	c, err := ristretto.NewCache(&ristretto.Config[uint64, *buffer]{
		NumCounters:        countersFor(maxBytes),
		MaxCost:            room,
		BufferItems:        64,
		OnExit:             y.onExit,
		KeyToHash:          func(id uint64) (uint64, uint64) { return id, 0 },
		IgnoreInternalCost: true,
	})
	if err != nil {
		panic("growpool: " + err.Error()) // none of the numbers is 0
	}
	y.cache = c
	return y
}

// countersFor returns the number of keys whose uses the cache counts: one a KiB,
// between a thousand and a million.
func countersFor(maxBytes int64) int64 { return min(max(maxBytes>>10, 1<<10), 1<<20) }

// cacheBytes is the size of the cache itself: four bytes a counter, the queue of
// its changes, and its shards.
func cacheBytes(maxBytes int64) int64 { return 4*countersFor(maxBytes) + 384<<10 }

// onExit is the callback.
func (y *policy) onExit(b *buffer) {
	if b == nil { // of a Del that found nothing
		return
	}
	y.exitMu.Lock()
	defer y.exitMu.Unlock()
	y.exits = append(y.exits, b)
}

// evicted returns the buffers that the cache has dropped since the last call.
func (y *policy) evicted() []*buffer {
	y.exitMu.Lock()
	defer y.exitMu.Unlock()
	list := y.exits
	y.exits = nil
	return list
}

// touch tells the cache that the key was used, which decides what it evicts.
func (y *policy) touch(id uint64) {
	y.closing.RLock()
	defer y.closing.RUnlock()
	if !y.closed {
		y.cache.Get(id)
	}
}

// admit asks whether a key may keep b, and returns the buffers that had to go for
// it, including the key's earlier buffer. The earlier buffer is deleted first: an
// update of its cost would evict nothing.
func (y *policy) admit(id uint64, b *buffer, cost int64) (evicted []*buffer, ok bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.closed {
		return nil, false
	}
	runtime.Gosched() // the cache's goroutine that counts uses is often starved until here
	if _, had := y.cache.Get(id); had {
		y.cache.Del(id)
	}
	ok = y.cache.Set(id, b, cost)
	y.cache.Wait()
	evicted = y.evicted()
	if i := slices.Index(evicted, b); i >= 0 {
		return slices.Delete(evicted, i, i+1), false
	}
	return evicted, ok
}

// remove deletes the key's buffer in the cache.
func (y *policy) remove(id uint64) []*buffer {
	return y.change(func() { y.cache.Del(id); y.cache.Wait() })
}

func (y *policy) clear() []*buffer { return y.change(func() { y.cache.Clear() }) }

// close ends the cache's goroutines.
func (y *policy) close() []*buffer {
	return y.change(func() {
		y.closing.Lock()
		defer y.closing.Unlock()
		y.cache.Close()
		y.closed = true
	})
}

// change makes a change unless the cache is closed, and returns what it evicted.
func (y *policy) change(f func()) []*buffer {
	y.mu.Lock()
	defer y.mu.Unlock()
	if !y.closed {
		f()
	}
	return y.evicted()
}
