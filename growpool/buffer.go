package growpool

import (
	"sync/atomic"
	"unsafe"

	"github.com/bufslab/bufslab/internal/invariants"
	"github.com/bufslab/bufslab/slab"
)

// A buffer is memory that a key has, or had. Its references are those of its
// key, of a lease and, for a moment, of who looks at it; the last one gives
// the memory back.
//
// To the slab.Pool it goes back at once if nobody can see it: if only leases
// have shown it, which are over. What Get has shown may be seen for ever; then the
// handle is forgotten, and the slab.Pool finds the memory when the last View
// and the last slice are gone.
type buffer struct {
	word   unsafe.Pointer // of the element type that Get may hand out; atomic
	open   unsafe.Pointer // ptr, once there is a slice; atomic
	size   int            // bytes
	ptr    unsafe.Pointer // nil where the CPU does not reach it
	handle slab.PooledBuffer
	budget *budget
	owner  any // the key's entry, for those who are told that the buffer has to go
	key    any // in check builds

	refs    atomic.Int32
	state   atomic.Int32
	shown   atomic.Bool // by Get
	evicted atomic.Bool // by the cache, maybe before the key had it
	charged atomic.Bool // to the budget
}

// The states of a buffer, in this order.
const (
	current  = iota // its key has it, or it never had one
	dropped         // its key has lost it
	replaced        // a larger one has taken its place
)

// newBuffer returns a buffer without memory and with one reference.
func newBuffer(size int, m *budget, owner, key any) *buffer {
	b := &buffer{size: size, budget: m, owner: owner}
	if invariants.Enabled {
		b.key = key
	}
	b.refs.Store(1)
	return b
}

// fill gets the memory. With tells the address without the slab.Pool having to
// think that a slice is out.
func (b *buffer) fill(p *slab.Pool) (err error) {
	if b.handle, err = p.Get(b.size); err != nil {
		return err
	}
	return b.handle.With(func(m []byte) { b.ptr = unsafe.Pointer(unsafe.SliceData(m)) })
}

// hold adds a reference, unless the last one has gone.
func (b *buffer) hold() bool {
	for {
		n := b.refs.Load()
		if n == 0 {
			return false
		}
		if b.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// drop ends a reference.
func (b *buffer) drop() {
	if b.refs.Add(-1) > 0 {
		return
	}
	if b.shown.Load() {
		b.budget.forgotten.Add(int64(b.size))
	} else {
		_ = b.handle.Release() // the only one, as only the last reference gets here
	}
	b.refund()
}

// refund gives the budget back what the buffer took of it.
func (b *buffer) refund() {
	if b.charged.CompareAndSwap(true, false) {
		b.budget.free(b.size)
	}
}

// show lets Get hand the buffer out by itself, for elements of a type.
func (b *buffer) show(word unsafe.Pointer) {
	b.shown.Store(true)
	atomic.StorePointer(&b.word, word)
}

// hide has every Get ask first.
func (b *buffer) hide() { atomic.StorePointer(&b.word, nil) }
