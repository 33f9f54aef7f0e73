package growpool

import (
	"reflect"
	"sync/atomic"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/refs"
)

// A Lease is a View that belongs to its holder alone, until Release. Then its memory can go
// back to the slab.Pool, so do not use slices of it afterwards. Memory that streams of a
// device work on may be released as soon as the work is enqueued: see [Lease.UsedOn].
//
// Release, UsedOn and Ref are safe for concurrent use; all else is for one goroutine at a time.
type Lease[T any] struct {
	View[T]
	from     lessor
	entry    any // of the key, nil if the buffer is the lease's alone
	lent     *buffer
	released atomic.Bool // written under lent.uses.mu, as View and name are
	name     refs.Name   // of its Ref
}

// A lessor is a Pool with keys of any type.
type lessor interface {
	count(leases int64)
	lookUnderWay(b *buffer)
	takeBack(entry any, b *buffer)
}

// newLease takes over the caller's reference to b.
func newLease[T any, K comparable](p *Pool[K], e *entry[K], b *buffer, v View[T]) *Lease[T] {
	p.count(1)
	b.uses.holders = 1
	l := &Lease[T]{View: v, from: p, lent: b}
	if e != nil {
		l.entry = e
	}
	return l
}

// Release ends the lease, and the next caller in the queue has the buffer. From then on the Lease
// shows nothing. A second Release returns ErrReleased and does nothing, and so does Release of a nil
// or zero Lease.
//
// If the lease was used on streams, the next owner of the key comes after their work. Release itself
// waits only for a stream that cannot record an event. If [Ref.Get] has returned other leases of the
// memory, the next caller has the buffer after the last of them is released.
func (l *Lease[T]) Release() error {
	if l == nil || l.from == nil {
		return ErrReleased
	}
	last, err := l.end()
	switch {
	case err != nil:
		return err
	case !last:
		l.from.count(-1)
		return nil
	}
	defer l.from.takeBack(l.entry, l.lent) // also if a stream panics
	l.from.lookUnderWay(l.lent)
	l.lent.uses.end()
	return nil
}

// end ends the lease, and its Ref. It reports whether no other lease has the memory.
func (l *Lease[T]) end() (last bool, err error) {
	u := &l.lent.uses
	u.mu.Lock()
	defer u.mu.Unlock()
	if l.released.Swap(true) {
		return false, ErrReleased
	}
	l.View = View[T]{}
	leases.Remove(l.name)
	u.holders--
	return u.holders == 0, nil
}

// UsedOn says that work on s uses the lease's memory. Call it before the work is enqueued or after, at
// any time before Release, any number of times and from any goroutine. Then Release need not wait for
// the work. The key's next owner comes after the work; [AcquireOn] on s itself need not wait. If the key
// loses the memory, its next owner comes after the work, too. A key remembers the streams of its buffer
// until the buffer goes back to the slab.Pool.
//
// After Release, and for a nil or zero Lease, UsedOn returns ErrReleased. A nil stream gives an error
// that wraps device.ErrUnavailable. Without UsedOn you must wait for the stream before Release.
// A slab.Pool with Config.Check reports a Release before that, on a device that knows the work of its
// streams, such as the simulated one.
func (l *Lease[T]) UsedOn(s device.Stream) error {
	if l == nil || l.from == nil {
		return ErrReleased
	}
	return l.lent.useOn(s, &l.released)
}

func (p *Pool[K]) count(leases int64) { p.leases.Add(leases) }

func (p *Pool[K]) takeBack(entryOfKey any, b *buffer) {
	p.count(-1)
	if p.stopped.Load() {
		defer p.slab.FreeHeld()
	}
	e, ok := entryOfKey.(*entry[K])
	if !ok {
		b.drop()
		return
	}
	e.mu.Lock()
	defer p.unlock(e) // both also if the Release panics
	defer e.turn.pass()
	b.drop()
}

// leases has the leases that have a Ref.
var leases = refs.New[named]()

// A named is a lease that has a Ref.
type named struct {
	elem  reflect.Type
	lease any // a weak.Pointer[Lease[T]]
}

// The methods of the View, which a nil Lease has, too.

// shown is the View of l, the zero View for a nil Lease.
func (l *Lease[T]) shown() View[T] {
	if l == nil {
		return View[T]{}
	}
	return l.View
}

// Slice is [View.Slice]. Slice and the methods below are those of the zero View for a nil
// Lease, and after Release.
func (l *Lease[T]) Slice() []T { return l.shown().Slice() }

// Shape is [View.Shape].
func (l *Lease[T]) Shape() []int { return l.shown().Shape() }

// Len is [View.Len].
func (l *Lease[T]) Len() int { return l.shown().Len() }

// Valid reports whether the key still has this buffer: see [View.Valid]. The lease may be used until
// Release in any case. Do not ask a copy of the View after Release: the key may lease the buffer again.
func (l *Lease[T]) Valid() bool { return l.shown().Valid() }

// At is [View.At].
func (l *Lease[T]) At(i ...int) T { return l.shown().At(i...) }

// Set is [View.Set].
func (l *Lease[T]) Set(x T, i ...int) { l.shown().Set(x, i...) }

// Row is [View.Row].
func (l *Lease[T]) Row(i ...int) []T { return l.shown().Row(i...) }

// Block is [View.Block].
func (l *Lease[T]) Block() device.Block { return l.shown().Block() }
