package trace

import (
	"cmp"
	"fmt"

	"github.com/bufslab/bufslab/trace/internal/alloclog"
)

// An address is a pointer and what it is compared within: a device or a process.
type address struct{ space, pointer uint64 }

// A block is what was allocated at an address.
type block struct {
	id   uint64
	size int
	pool string
}

// blocks gives every allocation an id of its own and finds it again by its pointer.
type blocks struct {
	live                                    map[address]block
	next                                    uint64 // id
	orphans, over, resized, failed, skipped oddity
}

// An oddity counts what a log should not have, or what a trace does not.
type oddity struct {
	what  string
	n     int
	first int // where the first was, 0 if that is unknown
}

func (o *oddity) add(at int) {
	if o.n == 0 {
		o.first = at
	}
	o.n++
}

func (o oddity) sentence(unit string) string {
	if o.first == 0 {
		return fmt.Sprintf("%d %s", o.n, o.what)
	}
	return fmt.Sprintf("%d %s, the first in %s %d", o.n, o.what, unit, o.first)
}

// odd returns what was counted, in words.
func (b *blocks) odd() []oddity {
	b.orphans.what = "frees of what was never allocated, left out"
	b.over.what = "allocations of a pointer that was live, freed just before"
	b.resized.what = "frees with another size than the allocation, which is kept"
	b.failed.what = "failed allocations, left out"
	b.skipped.what = "lines or events of an unknown kind, left out"
	return []oddity{b.orphans, b.over, b.resized, b.failed, b.skipped}
}

// ops returns the ops for an event: none, one, or a free and an allocation.
func (b *blocks) ops(e alloclog.Event) []Op {
	switch e.Kind {
	case alloclog.Alloc:
		return b.alloc(e)
	case alloclog.Free:
		return b.free(e, e.Pointer)
	case alloclog.Realloc:
		return b.realloc(e)
	case alloclog.Failed:
		b.failed.add(e.At)
	case alloclog.Skipped:
		b.skipped.add(e.At)
	}
	return nil
}

func (b *blocks) alloc(e alloclog.Event) (ops []Op) {
	at := address{e.Space, e.Pointer}
	if _, live := b.live[at]; live {
		b.over.add(e.At)
		e := e
		e.Size = -1
		ops = b.free(e, e.Pointer)
	}
	b.live[at] = block{b.next, e.Size, e.Pool}
	op := Op{Kind: Alloc, ID: b.next, Size: e.Size, Key: e.Pool, Stream: e.Stream, Thread: e.Thread, TimeNS: e.TimeNS}
	b.next++
	return append(ops, op)
}

func (b *blocks) free(e alloclog.Event, pointer uint64) []Op {
	at := address{e.Space, pointer}
	was, live := b.live[at]
	if !live {
		b.orphans.add(e.At)
		return nil
	}
	if e.Size >= 0 && e.Size != was.size {
		b.resized.add(e.At)
	}
	delete(b.live, at)
	return []Op{{Kind: Free, ID: was.id, Size: was.size, Key: was.pool, Stream: e.Stream, Thread: e.Thread, TimeNS: e.TimeNS}}
}

// realloc is a grow, or an allocation where the old block is not known, unless these stand in the log by
// themselves: then the new block is there already, and the old one is not.
func (b *blocks) realloc(e alloclog.Event) (ops []Op) {
	new, live := b.live[address{e.Space, e.Pointer}]
	was, old := b.live[address{e.Space, e.Old}]
	if live && new.size == e.Size && (!old || e.Old == e.Pointer) {
		return nil
	}
	e.Pool = cmp.Or(was.pool, e.Pool) // a row of another pool could not be told to belong
	if !old {
		return b.alloc(e)
	}
	delete(b.live, address{e.Space, e.Old})
	if live && e.Old != e.Pointer {
		b.over.add(e.At)
		over := e
		over.Size = -1
		ops = b.free(over, e.Pointer)
	}
	b.live[address{e.Space, e.Pointer}] = block{was.id, e.Size, e.Pool}
	return append(ops, Op{Kind: Grow, ID: was.id, Size: e.Size, Key: e.Pool, Stream: e.Stream, Thread: e.Thread, TimeNS: e.TimeNS})
}
