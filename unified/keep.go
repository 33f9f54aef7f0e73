package unified

import (
	"container/list"
	"slices"
	"sync"

	"github.com/bufslab/bufslab/internal/underway"
)

// PoolConfig limits the kept buffers of a pool. Acquired buffers do not count.
type PoolConfig struct {
	// MaxBuffers is the most buffers that are kept; the buffer released first
	// makes room. 0 means 100, and a negative number that none is kept.
	MaxBuffers int
	// MaxBufferBytes is the size of the largest buffer that is kept; larger ones
	// are freed when they are released. 0 means 1 GiB, and a negative number that
	// none is kept.
	MaxBufferBytes int64
}

// PoolStats are counts since the pool was made. Clear does not reset them.
type PoolStats struct {
	PoolSize      int64 // buffers kept now
	TotalAcquired int64 // CacheHits + CacheMisses
	TotalReleased int64 // kept or not
	CacheHits     int64 // Acquires that got a kept buffer
	CacheMisses   int64 // Acquires that got a new buffer
}

// A pool is a Pool without the part that its user holds, so that the collector can tell
// when the user has forgotten it. Active arrays and the slab pools refer to the pool.
//
// mu is a leaf. Buffers go back to slab pools without it, as a Release may take their
// locks and wait for a stream.
type pool struct {
	mem  *memory       // nil if there is none
	err  error         // why there is none
	turn chan struct{} // has a token while a call waits for memory: see wait.go

	mu    sync.Mutex
	c     PoolConfig
	stops bool
	like  map[kind][]*list.Element // by kind, released last at the end
	age   *list.List               // of released arrays, the first released in front
	bytes int64
	stats PoolStats
}

func newPool(m *memory, err error, c PoolConfig) *pool {
	if c.MaxBuffers == 0 {
		c.MaxBuffers = 100
	}
	if c.MaxBufferBytes == 0 {
		c.MaxBufferBytes = 1 << 30
	}
	return &pool{mem: m, err: err, turn: make(chan struct{}, 1), c: c, like: map[kind][]*list.Element{},
		age: list.New()}
}

// create makes an array that the pool will keep. It registers the pool as a keeper at the
// slab pools that it draws on.
func (p *pool) create(k kind, n, elem int) (*array, error) {
	for _, d := range []side{host, onDevice} {
		s, err := p.mem.pool(d, k.pinned)
		if err != nil {
			return nil, err
		}
		s.AddReclaimer(p)
	}
	a := newArray(p.mem, n, elem, k.pinned)
	a.keeper, a.kind = p, k
	return a, nil
}

// acquired counts an Acquire. kept says that it got an array that the pool had kept.
func (p *pool) acquired(kept bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if kept {
		p.stats.CacheHits++
	} else {
		p.stats.CacheMisses++
	}
}

// take removes and returns the last released array of a kind, nil if there is none.
func (p *pool) take(k kind) *array {
	p.mu.Lock()
	defer p.mu.Unlock()
	same := p.like[k]
	if len(same) == 0 {
		return nil
	}
	return p.removeLocked(same[len(same)-1])
}

// removeLocked takes an array out, the first or the last of its kind.
func (p *pool) removeLocked(e *list.Element) *array {
	a := p.age.Remove(e).(*array)
	same := p.like[a.kind]
	i := slices.Index(same, e)
	if same = slices.Delete(same, i, i+1); len(same) == 0 {
		delete(p.like, a.kind)
	} else {
		p.like[a.kind] = same
	}
	p.bytes -= a.bytes()
	return a
}

// release keeps an array whose lease is over. If the pool may not keep the array it
// frees it. If the pool is full it frees the array that was released first.
func (p *pool) release(a *array) {
	p.lookUnderWay(a)
	p.takeBack(a, 1)
}

// putBack undoes take or create for an Acquire that fails.
func (p *pool) putBack(a *array, kept bool) {
	if kept {
		p.takeBack(a, 0)
	} else {
		a.free()
	}
}

// takeBack is release that counts as that number of releases.
func (p *pool) takeBack(a *array, releases int64) {
	out, stops := p.keep(a, releases)
	if out != nil {
		out.free()
	}
	if stops {
		p.mem.freeHeld()
	}
	for _, s := range p.mem.pools() {
		s.Offer() // a call that waits for memory can have kept arrays
	}
}

// keep returns the array that has no room, and whether nothing may be held.
func (p *pool) keep(a *array, releases int64) (out *array, stops bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.TotalReleased += releases
	if !p.wants(a) {
		return a, p.stops
	}
	if p.age.Len() == p.c.MaxBuffers {
		out = p.removeLocked(p.age.Front())
	}
	p.like[a.kind] = append(p.like[a.kind], p.age.PushBack(a))
	p.bytes += a.bytes()
	return out, false
}

// wants reports whether the pool may keep an array. The caller holds p.mu.
func (p *pool) wants(a *array) bool {
	return !p.stops && p.c.MaxBuffers >= 0 && a.bytes() <= p.c.MaxBufferBytes
}

// lookUnderWay reports an array to be kept that a stream works on without its knowledge: the next Acquire would share
// it with that work. What the pool does not keep the slab pools look at.
func (p *pool) lookUnderWay(a *array) {
	p.mu.Lock()
	wants := p.wants(a)
	p.mu.Unlock()
	if !wants {
		return
	}
	for d := range a.sides {
		if s, err := p.mem.pool(side(d), a.pinned); err == nil && a.sides[d].has {
			if ended := underway.Watcher(s); ended != nil {
				ended(a.sides[d].buf, underway.Ended{What: "unified: buffer", By: "DeviceOn, DeviceMutOn or UsedOn",
					Named: a.streams()})
			}
		}
	}
}

// FreeHeld makes the pool a [slab.Reclaimer]: it frees the arrays that it keeps. The caller
// has the slab pools give back. The caller may hold the lock of an active array, which is
// not among them.
func (p *pool) FreeHeld() {
	p.mu.Lock()
	all := p.age
	p.age, p.like, p.bytes = list.New(), map[kind][]*list.Element{}, 0
	p.mu.Unlock()
	freeFrom(all.Front())
}

// freeFrom frees an array of a list and all arrays after it, also if a slab pool panics.
func freeFrom(e *list.Element) {
	defer func() {
		if e != nil {
			freeFrom(e.Next())
		}
	}()
	for ; e != nil; e = e.Next() {
		e.Value.(*array).free()
	}
}

func (p *pool) clear() {
	p.FreeHeld()
	p.mem.freeHeld()
}

func (p *pool) stopHolding() {
	p.mu.Lock()
	p.stops = true
	p.mu.Unlock()
	p.clear()
}

// abandon ends a pool whose user has forgotten it. It leaves held memory to the slab pools.
func (p *pool) abandon() {
	p.mu.Lock()
	p.c.MaxBuffers = -1 // from now on released arrays are freed
	p.mu.Unlock()
	p.FreeHeld()
	for _, s := range p.mem.pools() {
		s.RemoveReclaimer(p)
	}
}

// counts returns the figures, all of one moment.
func (p *pool) counts() PoolStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.PoolSize = int64(p.age.Len())
	s.TotalAcquired = s.CacheHits + s.CacheMisses
	return s
}

func (p *pool) keptBytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes
}
