package handle

import "unsafe"

// How forgotten buffers come back, and never alias.
//
// On the Go heap the collector watches the memory, not the handle: any slice of
// any block keeps its region alive. While blocks of a region are active, the pool
// holds its memory only weakly. When the collector finds the memory dead, every
// block of the region that a handle owned has been forgotten, and no slice of it
// is left: the region takes its memory back, and the forgotten blocks go to the
// strategy. A block in a cache or a queue keeps its memory alive through Entry.Mem.
//
// Off the heap the collector sees no slices. There a slot itself is watched: it
// is alone in its group, with a finalizer. If the bytes were only reached through
// With, or not at all, the block comes back when its slot is dead. If a raw slice
// escaped, the program may still use it: the block is never handed out again, and
// its pages go back to the system. If the program has only the slice, and no handle,
// each collection finds the slot dead, and the slot is watched again. A Put of the
// slice can bring the slot back to life before the report is handled. A finalizer
// costs an object a block, so only blocks from Options.WatchFrom bytes have one, and
// blocks that no slice can reach.

// onRegionDead takes back all blocks of a region whose memory nothing reaches.
func (t *shared) onRegionDead(r *Region) {
	t.mu.Lock()
	if !r.collected.Hold() {
		t.mu.Unlock()
		return
	}
	freed := r.takeDeferred()
	base := unsafe.Pointer(unsafe.SliceData(r.collected.Bytes()))
	r.each(func(s *Slot) {
		handles, ok := s.expireAll()
		if !ok {
			return
		}
		for range handles - 1 {
			t.options.PartForgotten(s, nil)
		}
		if !t.options.Forgotten(r.entry(s, base), false) {
			freed = append(freed, allocation(r.detach(s)))
		}
	})
	vacant := r.attached == 0
	if !vacant {
		r.collected.Loosen()
	}
	t.mu.Unlock()
	if vacant && t.options.Found != nil {
		t.options.Found(r.region)
	}
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
func (t *shared) onSlotDead(s *Slot) { t.giveBack(t.takeDead(s)) }

// giveBack gives up a forgotten block, if ok is true.
func (t *shared) giveBack(a Allocation, escaped, ok bool) {
	switch {
	case ok && escaped:
		t.options.Quarantine(a)
	case ok:
		t.options.Free([]Allocation{a})
	}
}

// doubts reports whether s may have had an owner with only a slice when the collector found s
// dead. Then a Put of the slice may have found s since, and s may have a new, live owner. If
// the collector finds s dead again in the same generation, s is dead. The caller holds
// Table.mu.
func (t *shared) doubts(s *Slot) bool {
	gen := s.Generation()
	if gen&wasBySlice == 0 || t.doubted[s.ID()] == gen {
		return false
	}
	if t.doubted == nil {
		t.doubted = map[ID]uint64{}
	}
	t.doubted[s.ID()] = gen
	return true
}

// takeDead ends the generation of a slot that nothing reaches. It reports false if streams
// still use the block, as the pool frees it later, and if the program holds a slice of
// GetBytes, as Put will return it. It watches the slot again, unless the slot is vacant and
// unwatched.
func (t *shared) takeDead(s *Slot) (a Allocation, escaped, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.addr == noBlock {
		if s.flags&watched != 0 {
			s.watch()
		}
		return a, false, false
	}
	s.watch()
	escaped = s.len > 0 && s.MayHaveEscaped() // a slice of 0 bytes reaches nothing
	if s.len > 0 && s.isBySlice() || t.doubts(s) || !s.expire() {
		return a, false, false
	}
	return t.takeForgotten(s, escaped)
}

// takeForgotten takes the block from a slot off the heap whose last handle was forgotten. The
// caller holds t.mu.
func (t *shared) takeForgotten(s *Slot, escaped bool) (a Allocation, _, ok bool) {
	r := s.header().region
	escaped = s.TakeStray() || escaped
	if t.options.Forgotten(r.entry(s, r.base), escaped) {
		return a, escaped, false
	}
	return allocation(r.detach(s)), escaped, true
}

// onPartDead ends a part off the heap that nothing reaches, if it was not released.
func (t *shared) onPartDead(s *Slot) {
	p := s.part()
	if p.root == nil { // its last part has ended
		return
	}
	escaped := s.len > 0 && s.MayHaveEscaped()
	if !s.End(s.Generation()) {
		return
	}
	root := p.root
	p.root, p.mem = nil, nil
	if escaped {
		root.SetStray()
	}
	if !root.Unpin() {
		t.options.PartForgotten(root, s)
		return
	}
	t.giveBack(t.takeLastForgotten(root))
}

// takeLastForgotten is takeForgotten of a block whose root was released before its last part was forgotten.
func (t *shared) takeLastForgotten(root *Slot) (a Allocation, escaped, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.takeForgotten(root, false)
}
