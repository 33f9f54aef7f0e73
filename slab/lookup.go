package slab

import (
	"fmt"
	"unsafe"

	"github.com/bufslab/bufslab/internal/pin"
	"github.com/bufslab/bufslab/internal/poolset"
	"github.com/bufslab/bufslab/slab/internal/handle"
)

// Buffers by slice, for programs that pass memory on as slices and give slices back: see getbytes.go as well.

// Lookup returns the handle of the active buffer that begins where b begins, whatever the
// length of b. It takes the time of a hash table and keeps nothing alive. It finds no parts,
// no hidden buffers (see [PooledBuffer.Hide]) and no released ones. But if released memory has
// been handed out again Lookup finds the new owner's buffer: do not use a slice after Release.
//
// Off the Go heap the buffer counts as forgotten unless b comes from GetBytes or the handle
// that Get returned is still reachable.
func (p *Pool) Lookup(b []byte) (PooledBuffer, bool) {
	if !p.isOpened() {
		return PooledBuffer{}, false
	}
	at := unsafe.Pointer(unsafe.SliceData(b))
	s, gen, n := p.pool.table.Find(uintptr(at))
	if over := p.pool.over.Load(); s == nil && over != nil {
		s, gen, n = over.table.Find(uintptr(at))
	}
	if cap(b) == 0 && n > 0 { // the end of a slice has the address of its beginning
		return PooledBuffer{}, false
	}
	return PooledBuffer{slot: s, ptr: at, gen: gen, n: n}, s != nil
}

// Put is Lookup and Release. If Lookup finds nothing the error wraps ErrForeign, the call counts in
// Stats.ForeignPuts, and nothing changes; with Config.Strict Put panics. If the slice is an active buffer
// of another pool of the process, the text names that pool. Of two Puts of a slice at the same time one
// may return ErrReleased.
func (p *Pool) Put(b []byte) error {
	if !p.isOpened() {
		return errNotOpened
	}
	if pin.ByRuntime && !handle.Sanitized && p.pool.put(b) {
		return nil
	}
	h, ok := p.Lookup(b)
	if !ok {
		return p.pool.foreign(b)
	}
	p.pool.leaks.PutBySlice(p.pool.promisedAlign(), bySlicePromise)
	return h.Release()
}

// foreign counts a Put of a slice that is not the pool's.
func (l *lending) foreign(b []byte) error {
	owner := ownerOf(b)
	l.leaks.PutForeign(b, owner)
	if owner == "" {
		return ErrForeign
	}
	return fmt.Errorf("%w: pool %s has it", ErrForeign, owner)
}

// ownerOf returns the name of a pool of the process whose Lookup finds b, or "". It asks all pools in turn:
// it may be slow, as a Put that fails is a mistake.
func ownerOf(b []byte) string {
	for _, m := range poolset.All() {
		if p, ok := m.(*pool); ok {
			if _, ok := (&Pool{p}).Lookup(b); ok {
				return p.config.Name
			}
		}
	}
	return ""
}

// Hide keeps b from Lookup and Put. It is for code that hands out bytes of b and keeps the handle:
// only the handle can then release b, and a Put of the bytes is ErrForeign. Call Hide before you
// hand the bytes out: a Put at the same time may have found b already.
//
// Hide lasts until b ends. After Grow the new buffer is not hidden. For a forgotten buffer Hide
// counts as a call of Bytes (see [Pool]). Hide does nothing for the zero PooledBuffer, after
// Release, and for device memory, which has no slices. It is safe for concurrent use.
func (b PooledBuffer) Hide() {
	if b.ptr == nil || !b.slot.Pin(b.gen) {
		return
	}
	defer b.unpin() // until then the slot has no other owner
	b.slot.Hide()
}

// put is Put of a buffer that Release only has to cache: one pin serves both halves.
func (p *pool) put(b []byte) bool {
	at := unsafe.Pointer(unsafe.SliceData(b))
	on := p.cache.Pin()
	s, gen, n := p.table.FindPinned(uintptr(at))
	if s == nil || !s.Simple() || cap(b) == 0 || !s.End(gen) {
		p.cache.Unpin(on)
		return false
	}
	e := handle.Entry{Slot: s, Mem: at}
	kept := p.cache.At(on.ID(), s.Class()).Push(e, n)
	p.cache.Unpin(on)
	if !kept {
		p.recycle(e, n)
	}
	return true
}
