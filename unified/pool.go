package unified

import (
	"fmt"
	"reflect"
	"runtime"
	"sync"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// A Pool keeps released buffers for reuse, with the memory, contents and states
// of both sides. A buffer serves only requests for the same shape, element type
// and kind of host memory. A Pool is safe for concurrent use; NewPool and NewPoolOn
// make one, and a nil or zero Pool is one without a device.
//
// It is for programs that make and drop the same arrays over and over, and saves
// them the first copies too. Memory alone is reused without it.
//
// What a Pool keeps goes where there is no room: for a buffer of its own, and for every
// slab.Pool that has the same device or the same slab.Limit below it, whatever that one
// serves. A Pool that is forgotten frees what it keeps, and buffers of it that are
// still out are freed when they are released.
type Pool struct{ pool *pool }

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

// NewPool returns a pool of buffers on a device. Their memory is that of [New].
func NewPool(dev device.Device, c PoolConfig) *Pool { return openPool(c)(memoryOf(dev)) }

// NewPoolOn returns a pool of buffers whose memory is that of two slab pools, with
// their strategies, budgets and statistics: dev has the device side, and its device
// makes the copies; host has the host side, nil for the default. They stay the
// caller's: close them when the buffers are gone.
//
// Where host is of page-locked memory (device "cuda:0:pinned") every buffer is pinned.
// Where it is of other memory AcquirePinned fails with device.ErrUnavailable: memory
// from elsewhere would go past the budget of host. Where it is nil AcquirePinned has the
// default of the device. If dev is nil, or [slab.Pool.Device] of it is, every Acquire
// fails with device.ErrUnavailable, and with slab.ErrClosed if host is closed or [slab.Open]
// did not return it; where the CPU does not reach the memory of host, every access of the
// host side fails with device.ErrUnavailable.
func NewPoolOn(host, dev *slab.Pool, c PoolConfig) *Pool { return openPool(c)(memoryOn(host, dev)) }

// openPool returns what makes a pool of a memory, or of the reason why there is none.
func openPool(c PoolConfig) func(*memory, error) *Pool {
	return func(m *memory, err error) *Pool {
		p := &Pool{newPool(m, err, c)}
		runtime.AddCleanup(p, func(q *pool) { go q.abandon() }, p.pool) // it may wait for a stream
		return p
	}
}

// Default returns the pool of the process, the same one at each call. Its
// device is the first of cuda:0, metal:0 and opencl:0 that opens, or else the heap; see
// [Pool.Device].
func Default() *Pool { return defaultPool() }

var defaultPool = sync.OnceValue(func() *Pool {
	for _, name := range []string{"cuda:0", "metal:0", "opencl:0"} {
		if d, err := device.Open(name); err == nil {
			return NewPool(d, PoolConfig{})
		}
	}
	d, _ := device.Open("heap") // which always opens
	return NewPool(d, PoolConfig{})
})

// noPool is what a nil or zero Pool is.
var noPool = newPool(nil, fmt.Errorf("unified: a nil or zero Pool: %w", device.ErrUnavailable), PoolConfig{})

func (p *Pool) inner() *pool {
	if p == nil || p.pool == nil {
		return noPool
	}
	return p.pool
}

// Device returns the device of the pool's buffers, nil if it has none.
func (p *Pool) Device() device.Device {
	if m := p.inner().mem; m != nil {
		return m.dev
	}
	return nil
}

// Acquire returns a buffer that the pool keeps, or a new one as [New] makes it,
// with the errors of New. Release gives it back. A kept buffer has the contents
// and the State with which it was released. To ignore them, begin with CopyFrom,
// Zero, HostOverwrite or DeviceOverwrite, which copy nothing between the sides.
func Acquire[T any](p *Pool, shape ...int) (*Buffer[T], error) {
	return acquire[T](p, takesNothing, false, shape)
}

// AcquirePinned is Acquire for a buffer as [NewPinned] makes it.
func AcquirePinned[T any](p *Pool, shape ...int) (*Buffer[T], error) {
	return acquire[T](p, takesNothing, true, shape)
}

// acquire returns a buffer of an array that take has found good.
func acquire[T any](front *Pool, take func(*pool, *array) error, pinned bool, dims []int) (*Buffer[T], error) {
	defer runtime.KeepAlive(front) // it is not abandoned meanwhile
	p := front.inner()
	n, err := count[T](dims)
	if err != nil {
		return nil, err
	}
	if p.err != nil {
		return nil, p.err
	}
	pinned = pinned || p.mem.allPinned()
	k := kind{reflect.TypeFor[T](), fmt.Sprint(dims), pinned}
	a := p.take(k)
	kept := a != nil
	if !kept {
		if a, err = p.create(k, n, sizeOf[T]()); err != nil {
			return nil, err
		}
	}
	taken := false
	defer func() { // also if a slab pool panics
		if !taken {
			p.putBack(a, kept)
		}
	}()
	if err := take(p, a); err != nil {
		return nil, err
	}
	taken = true
	p.acquired(kept)
	return handle[T](a, dims), nil
}

// Clear gives back what the pool holds, now: it frees the buffers that it keeps, and the
// slab pools that it draws on give what they hold to the device and to the host,
// pinned memory too. It does not touch acquired buffers. What streams still use stays
// with the slab pools until a later call. Those of NewPool are everybody's, so Clear
// also gives back what other buffers have left there.
func (p *Pool) Clear() { p.inner().clear() }

// FreeHeld is [Pool.Clear] by the name that it has everywhere else.
func (p *Pool) FreeHeld() { p.inner().clear() }

// StopHolding is Clear, now and after each Release from now on, which keeps nothing.
// There is no way back.
func (p *Pool) StopHolding() { p.inner().stopHolding() }

// PoolStats are counts since the pool was made. Clear does not reset them.
type PoolStats struct {
	PoolSize      int64 // buffers kept now
	TotalAcquired int64 // CacheHits + CacheMisses
	TotalReleased int64 // kept or not
	CacheHits     int64 // Acquires that got a kept buffer
	CacheMisses   int64 // Acquires that got a new one
}

// Stats returns the figures of the pool, all of one moment. [Pool.MemoryUsage] has those
// of the memory.
func (p *Pool) Stats() PoolStats { return p.inner().counts() }

// Len returns the number of buffers that the pool keeps.
func (p *Pool) Len() int { return int(p.inner().counts().PoolSize) }

// TotalBytes returns the SizeBytes of the buffers that the pool keeps, added up.
func (p *Pool) TotalBytes() int64 { return p.inner().keptBytes() }

// Usage says what the slab pools have that a [Pool] draws on, zeros for one that nothing
// was asked of. Buffers that are out or kept are active there. All that draws on them
// counts; where host memory is all page-locked it is in Pinned.
//
// HeldBytes of a side is what is cached there, and PeakManagedBytes the most that there was. Copies
// that were not made, as CPU and device share the memory, are counted since the first of them.
type Usage struct {
	Device, Host, Pinned         slab.Stats
	UncopiedCalls, UncopiedBytes int64
}

// MemoryUsage returns what the slab pools have.
func (p *Pool) MemoryUsage() Usage { return p.inner().mem.usage() }
