package unified

import (
	"container/list"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/bufslab/bufslab/device"
)

// A Pool keeps released buffers for reuse, with the memory, contents and states
// of both sides. A buffer serves only requests for the same shape, element type
// and kind of host memory. A Pool is safe for concurrent use; NewPool makes one.
//
// It is for programs that make and drop the same arrays over and over, and saves
// them the first copies too. Memory alone is reused without it.
type Pool struct {
	dev device.Device
	c   PoolConfig

	mu    sync.Mutex
	like  map[kind][]*list.Element // by kind, released last at the end
	age   *list.List               // of released arrays, the first released in front
	bytes int64
	stats PoolStats
}

// PoolConfig limits what a pool keeps. Acquired buffers do not count.
type PoolConfig struct {
	// MaxBuffers is how many buffers are kept; the one released first makes
	// room. 0 means 100, and a negative number that none is kept.
	MaxBuffers int
	// MaxBufferBytes is the largest buffer that is kept; larger ones are freed
	// when they are released. 0 means 1 GiB, and a negative number that none is
	// kept.
	MaxBufferBytes int64
}

// PoolStats are counts since the pool was made. Clear does not reset them.
type PoolStats struct {
	PoolSize      int64 // buffers kept now
	TotalAcquired int64 // CacheHits + CacheMisses
	TotalReleased int64 // kept or not
	CacheHits     int64 // Acquires that got a kept buffer
	CacheMisses   int64 // Acquires that got a new one
}

// A kind is what a request and a buffer must have in common.
type kind struct {
	elem   reflect.Type
	shape  string
	pinned bool
}

// NewPool returns a pool of buffers on a device.
func NewPool(dev device.Device, c PoolConfig) *Pool {
	if c.MaxBuffers == 0 {
		c.MaxBuffers = 100
	}
	if c.MaxBufferBytes == 0 {
		c.MaxBufferBytes = 1 << 30
	}
	return &Pool{dev: dev, c: c, like: map[kind][]*list.Element{}, age: list.New()}
}

// Default returns the pool of the process, the same one at each call. Its
// device is the first of cuda:0 and opencl:0 that opens, or else the heap.
func Default() *Pool { return defaultPool() }

var defaultPool = sync.OnceValue(func() *Pool {
	for _, name := range []string{"cuda:0", "opencl:0"} {
		if d, err := device.Open(name); err == nil {
			return NewPool(d, PoolConfig{})
		}
	}
	d, _ := device.Open("heap") // which always opens
	return NewPool(d, PoolConfig{})
})

// Acquire returns a buffer that the pool keeps, or a new one as [New] makes it,
// with the errors of New. Release gives it back. A kept buffer has the contents
// and the State with which it was released. To ignore them, begin with CopyFrom,
// Zero, HostOverwrite or DeviceOverwrite, which copy nothing between the sides.
func Acquire[T any](p *Pool, shape ...int) (*Buffer[T], error) { return acquire[T](p, false, shape) }

// AcquirePinned is Acquire for a buffer as [NewPinned] makes it.
func AcquirePinned[T any](p *Pool, shape ...int) (*Buffer[T], error) {
	return acquire[T](p, true, shape)
}

func acquire[T any](p *Pool, pinned bool, dims []int) (*Buffer[T], error) {
	if _, err := count[T](dims); err != nil {
		return nil, err
	}
	k := kind{reflect.TypeFor[T](), fmt.Sprint(dims), pinned}
	if a := p.take(k); a != nil {
		return handle[T](a, &lease{}, dims), nil
	}
	b, err := newBuffer[T](p.dev, pinned, dims)
	if err != nil {
		return nil, err
	}
	b.a.pool, b.a.kind = p, k
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.CacheMisses++
	return b, nil
}

// take removes the array of a kind that was released last, nil if there is none.
func (p *Pool) take(k kind) *array {
	p.mu.Lock()
	defer p.mu.Unlock()
	same := p.like[k]
	if len(same) == 0 {
		return nil
	}
	p.stats.CacheHits++
	return p.removeLocked(same[len(same)-1])
}

// removeLocked takes an array out, the first or the last of its kind.
func (p *Pool) removeLocked(e *list.Element) *array {
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

// release keeps an array whose lease is over. It frees the array where the pool
// may not keep it, or else the one that was released first if the pool is full.
func (p *Pool) release(a *array) {
	if out := p.keep(a); out != nil {
		out.free()
	}
}

// keep returns the array that there is no room for.
func (p *Pool) keep(a *array) (out *array) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.TotalReleased++
	if p.c.MaxBuffers < 0 || a.bytes() > p.c.MaxBufferBytes {
		return a
	}
	if p.age.Len() == p.c.MaxBuffers {
		out = p.removeLocked(p.age.Front())
	}
	p.like[a.kind] = append(p.like[a.kind], p.age.PushBack(a))
	p.bytes += a.bytes()
	return out
}

// Clear frees the buffers that the pool keeps. It does not touch acquired ones.
// The pool does this by itself when there is no room for an acquired buffer's
// memory.
func (p *Pool) Clear() {
	p.mu.Lock()
	all := p.age
	p.age, p.like, p.bytes = list.New(), map[kind][]*list.Element{}, 0
	p.mu.Unlock()
	for e := all.Front(); e != nil; e = e.Next() {
		e.Value.(*array).free()
	}
}

// Stats returns the figures of the pool, all of one moment.
func (p *Pool) Stats() PoolStats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.PoolSize = int64(p.age.Len())
	s.TotalAcquired = s.CacheHits + s.CacheMisses
	return s
}

// Len returns the number of buffers that the pool keeps.
func (p *Pool) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.age.Len()
}

// TotalBytes returns the SizeBytes of the buffers that the pool keeps, added up.
func (p *Pool) TotalBytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes
}
