package handle

import "unsafe"

// How forgotten buffers come back, and never alias.
//
// On the Go heap the collector watches the memory, not the handle: any slice of
// any block keeps its region alive. While blocks of a region are out, the pool
// holds its memory only weakly. When the collector finds the memory dead, every
// block of the region that a handle owned has been forgotten, and no slice of it
// is left: the region takes its memory back, and those blocks go to the strategy.
// A block in a cache or a queue keeps its memory alive through Entry.Mem.
//
// Off the heap the collector sees no slices. There a slot itself is watched: it
// is alone in its group, with a finalizer. If the bytes were only reached through
// With, or not at all, the block comes back when its slot is dead. If a raw slice
// escaped, someone may still use it: the block is never handed out again, and
// its pages go back to the system. A finalizer costs an object a block, so only
// blocks from Options.WatchFrom bytes have one, and those that no slice can reach.

// onRegionDead takes back all blocks of a region whose memory nothing reaches.
func (t *Table) onRegionDead(r *Region) {
	t.mu.Lock()
	if !r.collected.Hold() {
		t.mu.Unlock()
		return
	}
	freed := r.takeDeferred()
	base := unsafe.Pointer(unsafe.SliceData(r.collected.Bytes()))
	r.each(func(s *Slot) {
		if !s.expire() { // a call of With is about to return the block itself
			return
		}
		if !t.options.Forgotten(s.entry(base), false) {
			freed = append(freed, allocation(r.detach(s)))
		}
	})
	if r.attached > 0 {
		r.collected.Loosen()
	}
	t.mu.Unlock()
	t.options.Free(freed)
}

func (r *Region) takeDeferred() []Allocation {
	freed := r.deferred
	r.deferred = nil
	for _, a := range freed {
		r.table.deferred.Sub(a.Block.Len)
	}
	return freed
}

// onSlotDead takes back the block of a watched slot that nothing reaches.
func (t *Table) onSlotDead(s *Slot) {
	a, escaped, ok := t.takeDead(s)
	switch {
	case ok && escaped:
		t.options.Quarantine(a)
	case ok:
		t.options.Free([]Allocation{a})
	}
}

// takeDead ends the generation of a slot that nothing reaches. It reports false if
// streams still use the block: then the pool takes it from the slot later.
func (t *Table) takeDead(s *Slot) (a Allocation, escaped, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	escaped = s.len > 0 && s.hasEscaped() // a slice of no bytes reaches nothing
	if s.off < 0 || !s.expire() {
		return a, false, false
	}
	r := s.header().region
	s.watch()
	if t.options.Forgotten(s.entry(r.base), escaped) {
		return a, escaped, false
	}
	return allocation(r.detach(s)), escaped, true
}
