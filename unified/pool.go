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
// and kind of host memory. A Pool is safe for concurrent use. NewPool and NewPoolOn
// make a Pool; a nil or zero Pool has no device.
//
// It is for programs that make and drop the same arrays over and over, and saves
// them the first copies, too. Memory alone is reused without a Pool.
//
// Where there is no room, a Pool frees kept buffers: for a buffer of its own, and for every
// slab.Pool that shares the device or a slab.Limit. A forgotten Pool frees its kept buffers;
// its active buffers are freed when they are released.
type Pool struct{ pool *pool }

// NewPool returns a pool of buffers on a device. It draws on the same memory as [New].
func NewPool(dev device.Device, c PoolConfig) *Pool { return openPool(c)(memoryOf(dev)) }

// NewPoolOn returns a pool of buffers with the memory of two slab pools, and with their
// strategies, budgets and statistics. dev has the device side, and its device makes the
// copies. host has the host side, nil for the default. The caller closes the slab pools
// when the buffers are gone.
//
// If host is of page-locked memory (device "cuda:0:pinned") every buffer is pinned. If
// host is of other memory AcquirePinned fails with device.ErrUnavailable: other memory
// would go past the budget of host. If host is nil AcquirePinned takes the device's default.
//
// Every Acquire fails with device.ErrUnavailable if dev or its [slab.Pool.Device] is nil,
// and with slab.ErrClosed if host was closed before NewPoolOn or [slab.Open] did not return it. If
// a slab pool is closed later, each access that needs its memory fails with slab.ErrClosed. If the CPU
// does not reach the memory of host, every access of the host side fails with
// device.ErrUnavailable.
func NewPoolOn(host, dev *slab.Pool, c PoolConfig) *Pool { return openPool(c)(memoryOn(host, dev)) }

// openPool returns a function that makes a pool of a memory, or of the error why there is none.
func openPool(c PoolConfig) func(*memory, error) *Pool {
	return func(m *memory, err error) *Pool {
		p := &Pool{newPool(m, err, c)}
		runtime.AddCleanup(p, func(q *pool) { go q.abandon() }, p.pool) // it may wait for a stream
		return p
	}
}

// Default returns the pool of the process, the same at each call. Its device is
// the first of cuda:0, metal:0 and opencl:0 that opens, or else the heap; see
// [Pool.Device].
func Default() *Pool { return defaultPool() }

var defaultPool = sync.OnceValue(func() *Pool {
	for _, name := range []string{"cuda:0", "metal:0", "opencl:0"} {
		if d, err := device.Open(name); err == nil {
			return NewPool(d, PoolConfig{})
		}
	}
	d, _ := device.Open("heap") // it always opens
	return NewPool(d, PoolConfig{})
})

// noPool is the pool of a nil or zero Pool.
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

// Acquire returns a kept buffer of the pool, or a new buffer as [New] makes it, with
// the errors of New. Give it back by Release. A kept buffer has the contents and the
// State of its Release. To ignore them, begin with CopyFrom, Zero, HostOverwrite or
// DeviceOverwrite, which copy nothing between the sides.
func Acquire[T any](p *Pool, shape ...int) (*Buffer[T], error) {
	return acquire[T](p, takesNothing, false, shape)
}

// AcquirePinned is Acquire for a buffer as [NewPinned] makes it.
func AcquirePinned[T any](p *Pool, shape ...int) (*Buffer[T], error) {
	return acquire[T](p, takesNothing, true, shape)
}

// takesNothing is the take of Acquire: the first access of a side takes its memory.
func takesNothing(*pool, *array) error { return nil }

// acquire returns a buffer of an array for which take has succeeded.
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

// Clear gives back held memory, now: the pool frees the buffers that it keeps, and its slab
// pools give held memory to the device and to the host, also pinned memory. Clear does not
// touch acquired buffers. Memory that streams still use stays with the slab pools until a
// later call. All buffers of a device share the slab pools of NewPool, so Clear also gives
// back memory of other freed buffers.
func (p *Pool) Clear() { p.inner().clear() }

// FreeHeld is [Pool.Clear], by the name of other packages.
func (p *Pool) FreeHeld() { p.inner().clear() }

// StopHolding is Clear, and from now on Release keeps no buffer and clears, too. There is
// no way back.
func (p *Pool) StopHolding() { p.inner().stopHolding() }

// Stats returns the figures of the pool, all of one moment. [Pool.MemoryUsage] has figures
// of the memory.
func (p *Pool) Stats() PoolStats { return p.inner().counts() }

// Len returns the number of buffers that the pool keeps.
func (p *Pool) Len() int { return int(p.inner().counts().PoolSize) }

// TotalBytes returns the SizeBytes of the buffers that the pool keeps, added up.
func (p *Pool) TotalBytes() int64 { return p.inner().keptBytes() }

// MemoryUsage returns the Usage of the pool's slab pools.
func (p *Pool) MemoryUsage() Usage { return p.inner().mem.usage() }

// With calls f with a buffer of the pool that belongs to f alone, as [Acquire] returns it, and releases it
// when f returns or panics. f must not keep the buffer, nor slices or blocks of it; it may release the
// buffer earlier. With returns the error of f. If Acquire fails, With returns that error without a call
// of f.
//
// It is safe for concurrent use, as the pool is.
func With[T any](p *Pool, shape []int, f func(b *Buffer[T]) error) error {
	b, err := Acquire[T](p, shape...)
	if err != nil {
		return err
	}
	defer b.Release()
	return f(b)
}
