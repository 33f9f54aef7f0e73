package growpool

import (
	"math/rand/v2"
	"sync"
)

// A fickle cache is a map with the manners of the real one, at their worst.
type fickle struct {
	mu     sync.Mutex
	r      *rand.Rand
	has    map[uint64]*buffer
	exit   func(*buffer)
	drop   float64 // chance that Set is dropped
	reject float64 // that it is accepted and then not
	evict  float64 // that somebody else goes at a change
	gets   map[uint64]int
	paid   int64   // costs of all Sets
	last   *buffer // to have left; Get returns it for anything
}

func (f *fickle) lose(id uint64) {
	if b, ok := f.has[id]; ok {
		delete(f.has, id)
		f.last = b
		f.exit(b)
	}
}

func (f *fickle) Get(id uint64) (*buffer, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gets[id]++
	if b, ok := f.has[id]; ok {
		return b, true
	}
	return f.last, f.last != nil
}

func (f *fickle) Set(id uint64, b *buffer, cost int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.paid += cost
	switch {
	case f.r.Float64() < f.drop:
		return false
	case f.r.Float64() < f.reject:
		f.exit(b)
		return true
	}
	f.lose(id)
	f.has[id] = b
	for other := range f.has {
		if f.r.Float64() < f.evict {
			f.lose(other)
		}
	}
	return true
}

func (f *fickle) Del(id uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lose(id)
	f.exit(nil) // the zero value, as after every Del
}

func (f *fickle) Wait()  {}
func (f *fickle) Close() { f.Clear() }

func (f *fickle) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id := range f.has {
		f.lose(id)
	}
}

func (y *policy) use(f *fickle) {
	f.r, f.has, f.gets, f.exit = rand.New(rand.NewPCG(1, 2)), map[uint64]*buffer{}, map[uint64]int{}, y.onExit
	y.cache.Close()
	y.cache = f
}
