package growpool

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/invariants"
)

// A View is a window on the buffer of a key: the elements of its shape, one
// after the other, the last index fastest. A View is a value: copies show the
// same memory. The zero View shows nothing.
//
// A View is valid until the next Get of its key that needs more room. After
// that it is stale: it still shows the old memory, which the key no longer has.
// On the Go heap that memory is not reused while a View or a slice of a View
// exists. Contents are undefined at first, also after a hit with another element
// type. Copy data that has to last.
//
// The caller guards reading and writing, as with a slice. In check builds (build
// tag invariants) the use of a stale View panics.
type View[T any] struct {
	of *buffer
	dims
}

func newView[T any, K comparable](e *entry[K], b *buffer, d dims, shape []int) View[T] {
	if len(shape) > 2 || d.n == 0 {
		d.more = e.intern(shape)
	}
	return View[T]{b, d}
}

// Slice returns the elements, their capacity cut to their number. It is nil for the zero View
// and where the CPU does not reach the memory; without elements it is empty. The slice
// lasts as long as the View is valid; on the Go heap it is memory-safe for ever. Off the heap,
// when a larger Get has replaced the buffer, only the View keeps the memory from being
// reused: see the package comment.
func (v View[T]) Slice() []T {
	if v.of == nil {
		return nil
	}
	p := atomic.LoadPointer(&v.of.open)
	if invariants.Enabled || p == nil {
		if p = v.of.slice(); p == nil {
			return v.none()
		}
	}
	return unsafe.Slice((*T)(p), v.n)
}

// none returns the elements of a View without memory that the CPU reaches.
func (v View[T]) none() []T {
	if v.n == 0 {
		return []T{}
	}
	return nil
}

// Shape returns a copy of the shape, nil for the zero View.
func (v View[T]) Shape() []int { return v.shape() }

// Len returns the number of elements.
func (v View[T]) Len() int { return v.n }

// Valid reports whether the View is valid. It is not if a Get of the key has replaced
// the buffer, or the key has lost the buffer, by the budget, IdleAfter or Clear.
func (v View[T]) Valid() bool { return v.of != nil && !stale[v.of.state()] }

// At returns the element at i, an index for each dimension. It panics like a slice if
// the number of indices is wrong, or an index is out of range.
func (v View[T]) At(i ...int) T {
	p := v.at(i)
	x := *p
	runtime.KeepAlive(v.of)
	return x
}

// Set sets the element at i, an index for each dimension. It panics as At does.
func (v View[T]) Set(x T, i ...int) {
	*v.at(i) = x
	runtime.KeepAlive(v.of)
}

// Row returns the elements with the leading indices i. With all indices but the last
// it is a row, with fewer a plane or more. The result lasts as long as that of Slice.
// Row panics if there are as many indices as dimensions, or an index is out of range.
func (v View[T]) Row(i ...int) []T {
	off, n, ok := v.span(i)
	if !ok || len(i) >= v.rank() {
		v.outOfRange(i)
	}
	m := v.Slice()
	if m == nil {
		return nil
	}
	return m[off : off+n : off+n]
}

// Block returns the memory as a block of its device, for copies, as
// [slab.PooledBuffer.Block] does. It is the zero Block for the zero View.
func (v View[T]) Block() device.Block {
	if v.of == nil {
		return device.Block{}
	}
	v.of.check()
	var x T
	v.of.handle.Hide()
	b := v.of.handle.Block()
	b.Len = v.n * int(unsafe.Sizeof(x))
	return b
}

// UsedOn says that work on s uses the memory, as [Lease.UsedOn] does. The next Get or Acquire of the
// key comes after all work that s has until then. Call UsedOn before the next Get of the key; keep the
// View until the work is enqueued. The zero View returns ErrReleased.
//
// Like [Get] it is for a key that a single goroutine uses. It makes the next Get of the key slow.
func (v View[T]) UsedOn(s device.Stream) error {
	if v.of == nil {
		return ErrReleased
	}
	v.of.check()
	return v.of.useOn(s, nil)
}

func (v View[T]) at(i []int) *T {
	var off int
	var ok bool
	if len(i) == 2 && v.last != 0 {
		off, ok = v.cell(i[0], i[1])
	} else if len(i) == v.rank() {
		off, _, ok = v.span(i)
		ok = ok && v.of != nil
	}
	if !ok {
		v.outOfRange(i)
	}
	if v.of.ptr == nil {
		panic("growpool: the CPU does not reach the memory of this View")
	}
	v.of.check()
	var x T
	return (*T)(unsafe.Add(v.of.ptr, off*int(unsafe.Sizeof(x))))
}

func (v View[T]) outOfRange(i []int) {
	panic(fmt.Sprintf("growpool: index %v of shape %v", append([]int{}, i...), v.shape()))
}
