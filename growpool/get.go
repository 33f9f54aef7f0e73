package growpool

import (
	"sync/atomic"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// Get returns a View of the key's buffer, with as many elements as the product of
// shape. If the buffer has no room for them it is replaced by a larger buffer,
// and Views of the old buffer are stale. A hit takes no lock. It does not allocate, up
// to two dimensions; with more it does not if the key's last shape was the same. With a
// dimension of 0 the View has no elements and is valid: that takes no memory, and is a hit.
//
// The error wraps ErrShape or ErrElement for a shape or a type that no buffer
// can have, before anything happens. It is ErrClosed after Close, and wraps
// ErrLeased while the key is leased. Where there is no room it wraps
// device.ErrOutOfMemory, and the key keeps its buffer.
//
// If streams use the buffer (see [Lease.UsedOn] and [View.UsedOn]), Get waits for their work.
//
// Get is safe for concurrent use. Its result is not, like a slice that goroutines
// share: see [Acquire].
func Get[T any, K comparable](p *Pool[K], key K, shape ...int) (View[T], error) {
	if len(shape) != 1 || p == nil || p.seen {
		return get[T](p, key, shape)
	}
	// This is get and table.find in one piece: a third faster.
	s := p.table.slots.Load()
	if s == nil {
		return View[T]{}, errNotMade
	}
	for i := p.table.hash(key); ; i++ {
		e := s.at[i&s.mask].Load()
		if e == nil {
			break
		}
		if e.key != key {
			continue
		}
		var x T
		b := e.cur.Load() // nil in a grave
		if b != nil && atomic.LoadPointer(&b.word) == wordOf[T]() &&
			uint(shape[0]-1) < uint(b.size)/uint(unsafe.Sizeof(x)) {
			e.hits.add()
			return View[T]{b, vector(shape[0])}, nil
		}
		break
	}
	return get[T](p, key, shape)
}

// get is Get of any shape. A type that was shown before was checked then, and has bytes.
func get[T any, K comparable](p *Pool[K], key K, shape []int) (View[T], error) {
	var x T
	if !p.made() {
		return View[T]{}, errNotMade
	}
	if p.config.Requested != nil {
		p.request(key, shape, unsafe.Sizeof(x))
	}
	if e := p.table.find(key); e != nil {
		b := e.cur.Load()
		if b != nil && atomic.LoadPointer(&b.word) == wordOf[T]() {
			d, ok := dimsOf(shape, unsafe.Sizeof(x))
			if ok && d.n <= b.size/int(unsafe.Sizeof(x)) {
				p.hit(e)
				return newView[T](e, b, d, shape), nil
			}
		}
	}
	return getSlowly[T](p, key, shape)
}

func getSlowly[T any, K comparable](p *Pool[K], key K, shape []int) (View[T], error) {
	t := elementOf[T]()
	d, err := judge(t, shape)
	if err != nil {
		return View[T]{}, err
	}
	for {
		v, before, err := getLocked[T](p, key, t, d, shape)
		if len(before) == 0 {
			return v, err
		}
		syncEach(before) // without a lock; then others may have the key
	}
}

// getLocked is getSlowly of a checked request. If streams use the buffer it returns events: the caller
// waits for them, and calls it again.
func getLocked[T any, K comparable](p *Pool[K], key K, t element, d dims, shape []int) (
	v View[T], before []device.Event, _ error,
) {
	e, err := p.lock(key)
	if err != nil {
		return v, nil, err
	}
	defer p.unlock(e)
	if e.turn.taken {
		return v, nil, leasedError(key)
	}
	n := d.n * int(t.size)
	if before = e.unsettled(n, nil); len(before) > 0 {
		return v, before, nil
	}
	b, err := p.obtain(noWait, e, n)
	if err != nil {
		return v, nil, err
	}
	defer b.drop()
	if err := t.checkAt(b.ptr); err != nil {
		return v, nil, err
	}
	b.show(t.word)
	return newView[T](e, b, d, shape), nil, nil
}
