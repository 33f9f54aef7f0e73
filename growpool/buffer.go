package growpool

import (
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/invariants"
	"github.com/bufslab/bufslab/slab"
)

// A buffer is memory that a key has, or had. Its key has a reference, each lease
// has one, and its maker has one until the buffer is handed over. state.go says
// what becomes of the buffer, and of its memory after the last reference.
type buffer struct {
	word   unsafe.Pointer // of the element type that Get may hand out; atomic
	open   unsafe.Pointer // ptr, once there is a slice; atomic
	size   int            // bytes
	ptr    unsafe.Pointer // nil where the CPU does not reach it
	handle slab.PooledBuffer
	budget *budget
	owner  interface{ name() any } // the key's *entry
	life   atomic.Uint32           // a life
	left   *abandoned              // once it is left to the collector
	uses   uses
}

// newBuffer returns a buffer without memory. The caller has its one reference.
func newBuffer(size int, m *budget, owner interface{ name() any }) *buffer {
	b := &buffer{size: size, budget: m, owner: owner}
	b.life.Store(uint32(lifeOf(made, 1)))
	return b
}

// fill gets the memory. With tells the address, and the slab.Pool does not
// have to assume that a slice exists.
func (b *buffer) fill(get func(int) (slab.PooledBuffer, error)) (err error) {
	if b.handle, err = get(b.size); err != nil {
		return err
	}
	return b.handle.With(func(m []byte) { b.ptr = unsafe.Pointer(unsafe.SliceData(m)) })
}

func (b *buffer) now() life    { return life(b.life.Load()) }
func (b *buffer) state() state { return b.now().state() }

// idle reports whether only its key has the buffer.
func (b *buffer) idle() bool { l := b.now(); return l == lifeOf(kept, 1) || l == lifeOf(shown, 1) }

// hold adds a reference, unless the last one has ended.
func (b *buffer) hold() bool {
	for l := b.now(); l.refs() > 0; l = b.now() {
		if b.life.CompareAndSwap(uint32(l), uint32(lifeOf(l.state(), l.refs()+1))) {
			return true
		}
	}
	return false
}

// drop ends a reference.
func (b *buffer) drop() { b.apply(drop) }

// apply has an event happen, does its actions, and returns them. The caller
// has to do unlink.
func (b *buffer) apply(ev event) action {
	do := b.change(ev)
	if do != 0 {
		b.perform(do)
	}
	return do
}

// change is apply that leaves everything to the caller.
func (b *buffer) change(ev event) action {
	for {
		l := b.now()
		next, do := l.on(ev)
		if b.life.CompareAndSwap(uint32(l), uint32(next)) {
			return do
		}
	}
}

// perform frees the bytes of the budget last: the memory is gone by then, also if its
// Release panics.
func (b *buffer) perform(do action) {
	if do&refund != 0 {
		defer b.budget.free(b.size)
	}
	if do&giveBack != 0 {
		_ = b.handle.Release() // the only one, as the last reference ends once
	}
	if do&leave != 0 {
		b.left = b.budget.left.add(b.size)
	}
}

// show lets Get hand the buffer out without a lock, for elements of a type, unless streams use it.
func (b *buffer) show(word unsafe.Pointer) {
	b.apply(show)
	b.uses.mu.Lock()
	defer b.uses.mu.Unlock()
	if len(b.uses.list) == 0 {
		atomic.StorePointer(&b.word, word)
	}
}

// hide makes every Get take the entry's lock first.
func (b *buffer) hide() { atomic.StorePointer(&b.word, nil) }

// check panics in check builds if a later Get has replaced the buffer.
func (b *buffer) check() {
	if invariants.Enabled && b.state() == replaced {
		panic(fmt.Sprintf("growpool: view of key %#v used after a later Get replaced its buffer", b.owner.name()))
	}
}

// slice returns the address for a slice. Hide tells the slab.Pool that there may be a slice of
// memory that the collector does not see, and that a Put of the slice must not find the buffer.
func (b *buffer) slice() unsafe.Pointer {
	b.check()
	b.handle.Hide()
	atomic.StorePointer(&b.open, b.ptr)
	return b.ptr
}

// useOn notes that work on s uses the buffer, unless its owner has ended. From now on each Get of the
// key looks for streams.
func (b *buffer) useOn(s device.Stream, ended *atomic.Bool) error {
	if s == nil {
		return errNoStream
	}
	b.uses.mu.Lock()
	defer b.uses.mu.Unlock()
	if ended != nil && ended.Load() {
		return ErrReleased
	}
	if b.size == 0 {
		return nil
	}
	if err := b.handle.UsedOn(s); err != nil {
		return err
	}
	b.hide()
	if i := slices.IndexFunc(b.uses.list, func(x use) bool { return x.stream == s }); i >= 0 {
		b.uses.list[i].event = nil
		return nil
	}
	b.uses.list = append(b.uses.list, use{stream: s})
	return nil
}
