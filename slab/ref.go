package slab

import (
	"github.com/bufslab/bufslab/slab/internal/handle"
)

// A Ref names a buffer and keeps nothing alive. It is a value of 16 bytes for messages, maps, logs and
// other goroutines, where the bytes themselves would be too much. Get opens it. A Ref has a text, so it
// also passes through a queue or a library that carries only text.
//
// Copy a Ref, compare it, use it as the key of a map. A handle and its copies have equal Refs. Two
// handles never have equal Refs, even if the second has the memory of the first. The zero Ref names
// nothing. All methods except UnmarshalText are safe for concurrent use, also during a Release.
//
// A Ref keeps neither the buffer nor its pool. Off the Go heap a buffer counts as forgotten when only
// its Refs are left (see [Pool]). So keep its handle, or the slice of GetBytes, until Get has returned.
// On the Go heap any slice of the buffer is enough. For a Ref of a part keep the handle of the part, on
// every device.
//
// A Ref is not for other processes and not for storage: there Get returns ErrReleased. A Ref is no
// permission either: everybody can write such a text. Do not open the text of a peer that you do not
// trust.
type Ref struct{ pool, number uint64 }

// Ref returns the Ref of b. It is the zero Ref for the zero PooledBuffer and for a stale b. A buffer of
// 0 bytes has a Ref. So has a part: its Ref opens the bytes of the part. The Ref ends with the handle:
// after Release or Grow of b its Get returns ErrReleased, even if other handles share the memory.
//
// Ref takes a lock of the pool, and an entry in a map of the pool. The entry goes when the block goes to
// the strategy or has a Ref again; entries of parts go later. A hit of Get or Release pays nothing.
func (b PooledBuffer) Ref() (r Ref) {
	if b.slot == nil || !b.slot.Pin(b.gen) {
		return r
	}
	defer b.unpin()
	r.pool, r.number = handle.Refer(b.slot, b.gen, b.n)
	return r
}

// Get returns a new handle to the memory that r names, as [PooledBuffer.Share] of the buffer
// would. Release the handle on its own, in any order. The memory stays until then, also if the buffer is
// released meanwhile. Stats counts the memory and not the handle, as for every part. Leaks lists the
// handle with the place of this call. Get works in a closed pool, for buffers that are still active.
//
// The error is ErrReleased if the buffer was released, grown or found forgotten since: Get never returns
// the memory of another buffer. It is ErrReleased for the zero Ref and for a Ref of another process, too.
// It is ErrParts as for Share. Neither error counts in Stats.
func (r Ref) Get() (PooledBuffer, error) {
	e, gen, n, ok := handle.Referred(r.pool, r.number)
	if !ok {
		return PooledBuffer{}, ErrReleased
	}
	return PooledBuffer{slot: e.Slot, ptr: e.Mem, gen: gen, n: n}.pinnedPart(0, n)
}
