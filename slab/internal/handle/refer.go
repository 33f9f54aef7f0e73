package handle

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"weak"
)

// How an owner is found by two numbers: the number of a table, and the owner's number in that table. The
// numbers keep nothing alive. Numbers of tables count up from a number that is drawn at random when the
// process starts, so numbers of another process find no table.

var (
	tables    sync.Map // weak.Pointer[shared] by number, of all tables with references
	lastTable atomic.Uint64
)

func init() { lastTable.Store(rand.Uint64()) }

// Refer returns the numbers of the owner of s, of generation gen and n bytes: the same in each call, and
// 0, 0 if it is not the owner any more. The caller has pinned s.
func Refer(s *Slot, gen uint64, n int) (table, number uint64) {
	t := s.header().region.table
	t.mu.Lock()
	defer t.mu.Unlock()
	if !s.Owns(gen) { // else s has its block until the lock is released
		return 0, 0
	}
	r := reference[partial]{slot: uintptr(s.ID()), gen: gen, n: n}
	if s.IsPart() {
		r.part = weak.Make(s.part())
	}
	if t.refs.table == 0 {
		t.enter()
	}
	return t.refs.table, t.refs.number(r, live)
}

// enter gives the table a number, which finds the table until it is collected. The caller holds t.mu.
func (t *shared) enter() {
	for t.refs.table == 0 {
		t.refs.table = lastTable.Add(1)
	}
	tables.Store(t.refs.table, weak.Make(t))
	runtime.AddCleanup(t, func(number uint64) { tables.Delete(number) }, t.refs.table)
}

// live reports whether the owner has not released its buffer. The caller holds Table.mu.
func live(r reference[partial]) bool {
	if r.isPart() {
		p := r.part.Value()
		return p != nil && p.slot.Owns(r.gen)
	}
	return slotOf(r.slot).Owns(r.gen)
}

func (r reference[P]) isPart() bool { return r.part != weak.Pointer[P]{} }

// Referred returns the owner that has these numbers: its block, generation and bytes. Referred pins the
// slot for the caller. It reports false if the owner has released the buffer or was found forgotten, and
// for numbers that no owner has.
func Referred(table, number uint64) (e Entry, gen uint64, n int, ok bool) {
	w, ok := tables.Load(table)
	if !ok {
		return e, 0, 0, false
	}
	t := w.(weak.Pointer[shared]).Value()
	if t == nil {
		return e, 0, 0, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r, ok := t.refs.of[number]
	switch {
	case !ok:
	case r.isPart():
		e, ok = pinnedPart(r)
	default:
		e, ok = pinnedRoot(r)
	}
	return e, r.gen, r.n, ok
}

// pinnedRoot pins the slot of a block. On the Go heap it first takes hold of the memory. It fails if the
// collector has found the memory dead: then no owner is left, and the report is on its way. Off the
// heap the collector may have found the slot dead, too. Then the report sees the pin, and the block stays.
func pinnedRoot(r reference[partial]) (e Entry, ok bool) {
	s := slotOf(r.slot)
	of := s.header().region
	base := of.base
	if of.collected != nil {
		if base = of.collectedBase(); base == nil {
			return e, false
		}
	}
	e = of.entry(s, base)
	return e, s.Pin(r.gen)
}

// pinnedPart pins the slot of a part. The pin comes first: the end of a part lets go of its root.
func pinnedPart(r reference[partial]) (e Entry, ok bool) {
	p := r.part.Value()
	if p == nil || !p.slot.Pin(r.gen) {
		return e, false
	}
	return p.slot.shifted(p.mem, int(p.slot.addr-p.root.addr)), true
}

// EndReferences is for a closed pool. It forgets the table's number, unless an active buffer has a
// reference: then the number goes with the Table.
func (t *shared) EndReferences() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.refs.sweep(live); len(t.refs.of) > 0 || t.refs.table == 0 {
		return
	}
	tables.Delete(t.refs.table)
	t.refs = references[partial]{given: t.refs.given}
}
