package growpool

import (
	"slices"
	"sync"

	"github.com/dgraph-io/ristretto/v2"
)

// A keeper asks a cache which keys keep their buffers. It makes the cache
// answer at once: changes are made one at a time, and each waits until it
// has taken effect. That leaves no pending values, no two of one key, and
// no change beside Close.
//
// What the cache lets go of, for whatever reason and as often as it likes, is
// collected by its callback and handed to the caller. The value that its Get
// returns is not used: it may be one that was let go of before.
type keeper struct {
	mu    sync.Mutex
	cache cache

	closing sync.RWMutex // Gets against Close
	closed  bool         // by both locks

	exits sync.Mutex // leaf: the callback runs while mu is held
	gone  []*buffer
}

// A cache is what a keeper needs of a ristretto.Cache.
type cache interface {
	Get(id uint64) (*buffer, bool)
	Set(id uint64, b *buffer, cost int64) bool
	Del(id uint64)
	Wait()
	Clear()
	Close()
}

// newKeeper returns a keeper of so many bytes of cost.
func newKeeper(room, maxBytes int64) *keeper {
	k := new(keeper)
	c, err := ristretto.NewCache(&ristretto.Config[uint64, *buffer]{
		NumCounters:        countersFor(maxBytes),
		MaxCost:            room,
		BufferItems:        64,
		OnExit:             k.exit,
		KeyToHash:          func(id uint64) (uint64, uint64) { return id, 0 },
		IgnoreInternalCost: true,
	})
	if err != nil {
		panic("growpool: " + err.Error()) // none of the numbers is 0
	}
	k.cache = c
	return k
}

// countersFor returns how many keys the cache remembers the use of: one a KiB, within reason.
func countersFor(maxBytes int64) int64 { return min(max(maxBytes>>10, 1<<10), 1<<20) }

// exit is the callback.
func (k *keeper) exit(b *buffer) {
	if b == nil { // of a Del that found nothing
		return
	}
	k.exits.Lock()
	defer k.exits.Unlock()
	k.gone = append(k.gone, b)
}

func (k *keeper) taken() []*buffer {
	k.exits.Lock()
	defer k.exits.Unlock()
	gone := k.gone
	k.gone = nil
	return gone
}

// touch tells that the key was used, which decides who stays.
func (k *keeper) touch(id uint64) {
	k.closing.RLock()
	defer k.closing.RUnlock()
	if !k.closed {
		k.cache.Get(id)
	}
}

// admit asks whether a key may keep b, and returns the buffers of others, or
// an earlier one of the key, that had to go for it. What the key had is deleted first: an update
// of its cost would evict nobody.
func (k *keeper) admit(id uint64, b *buffer, cost int64) (gone []*buffer, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil, false
	}
	if _, had := k.cache.Get(id); had {
		k.cache.Del(id)
	}
	ok = k.cache.Set(id, b, cost)
	k.cache.Wait()
	gone = k.taken()
	if i := slices.Index(gone, b); i >= 0 {
		return slices.Delete(gone, i, i+1), false
	}
	return gone, ok
}

// remove takes what the key has out of the cache.
func (k *keeper) remove(id uint64) []*buffer {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil
	}
	k.cache.Del(id)
	k.cache.Wait()
	return k.taken()
}

func (k *keeper) clear() []*buffer {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.closed {
		k.cache.Clear()
	}
	return k.taken()
}

// close ends the cache's goroutines.
func (k *keeper) close() []*buffer {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closing.Lock()
	defer k.closing.Unlock()
	if !k.closed {
		k.cache.Close()
		k.closed = true
	}
	return k.taken()
}
