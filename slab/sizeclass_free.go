package slab

import "github.com/bufslab/bufslab/device"

// The way back through a Sizeclass; see sizeclass.go.

// Free takes a block back; see [Allocator].
func (s *Sizeclass) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	s.mu.Lock()
	leave, ok := s.freeCarved(b)
	if !ok {
		leave, ok = s.freeWhole(b)
	}
	s.mu.Unlock()
	if !ok {
		panic(notOut(b))
	}
	s.free(leave)
}

func (s *Sizeclass) free(leave []device.Block) {
	for _, b := range leave {
		s.upstream.Free(b)
	}
}

// freeCarved takes b back if it is a block of a slab that is out, and returns
// what has to go upstream for it.
func (s *Sizeclass) freeCarved(b device.Block) (leave []device.Block, ok bool) {
	i, ok := s.slabs.find(b)
	if !ok || b.Len <= 0 {
		return nil, false
	}
	v := &s.carver.slabs[i]
	off := b.Off - v.mem.block.Off
	if !s.carver.out(i, off, b.Len) {
		return nil, false
	}
	s.usage.sub(b.Len)
	s.usage.RoundingBytes -= int64(v.size - b.Len)
	if s.carver.give(i, off) && (s.carver.spare(i) || s.overHeld()) {
		leave = s.shelve(i, nil)
	}
	return s.shrink(leave), true
}

func (s *Sizeclass) freeWhole(b device.Block) (leave []device.Block, ok bool) {
	at := spot{b.Region, b.Off}
	l, ok := s.whole[at]
	if !ok || l.asked != b.Len {
		return nil, false
	}
	delete(s.whole, at)
	n := footprint(l.block, s.own)
	s.usage.sub(b.Len)
	s.usage.RoundingBytes -= n - int64(b.Len)
	if l.key < 0 {
		return []device.Block{l.block}, true
	}
	return s.shrink(s.shelf.put(l.key, l.block, n, nil)), true
}

// shelve makes the empty slab i a whole block again.
func (s *Sizeclass) shelve(i int32, leave []device.Block) []device.Block {
	mem := s.carver.remove(i, s.carver.slabs[i].mem.block.Len)
	s.slabs.remove(mem.block)
	n := footprint(mem.block, s.own)
	s.excess -= n - int64(mem.block.Len)
	return s.shelf.put(mem.key, mem.block, n, leave)
}

// shelveEmpty does so with all slabs that are empty.
func (s *Sizeclass) shelveEmpty() (leave []device.Block) {
	for i := range s.carver.slabs {
		if v := &s.carver.slabs[i]; v.n > 0 && v.nfree == v.n {
			leave = s.shelve(int32(i), leave)
		}
	}
	return leave
}

// overHeld reports whether more is held than may be.
func (s *Sizeclass) overHeld() bool {
	return s.shelf.maxBlocks == 0 || s.shelf.bytes+s.carver.freeBytes > s.held
}

// shrink lets the shelf hold no more than free blocks in slabs leave room for.
func (s *Sizeclass) shrink(leave []device.Block) []device.Block {
	if s.held == noLimit {
		return leave
	}
	return s.shelf.shrink(s.shelf.maxBlocks, max(0, s.held-s.carver.freeBytes), leave)
}

// FreeHeld gives all held blocks and empty slabs upstream.
func (s *Sizeclass) FreeHeld() {
	s.mu.Lock()
	leave := s.shelf.shrink(0, 0, s.shelveEmpty())
	s.mu.Unlock()
	s.free(leave)
}

// StopHolding is FreeHeld, and from now on blocks go upstream as they come
// back, and slabs when they are empty.
func (s *Sizeclass) StopHolding() {
	s.mu.Lock()
	leave := s.shelf.stop(s.shelveEmpty())
	s.mu.Unlock()
	s.free(leave)
}

// Trim ends an epoch; see [Trimmer].
func (s *Sizeclass) Trim(idle int) int64 {
	s.mu.Lock()
	leave := s.shelf.trim(idle, s.shelveEmpty())
	s.mu.Unlock()
	var sum int64
	for _, b := range leave {
		sum += footprint(b, s.own)
	}
	s.free(leave)
	return sum
}

// Usage reports where the managed bytes are.
func (s *Sizeclass) Usage() Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.usage
	u.HeldBlocks = int64(s.shelf.blocks) + s.carver.freeBlocks
	u.HeldBytes = s.shelf.bytes + s.carver.freeBytes
	u.UnusableBytes = s.carver.tailBytes + s.excess
	return u
}
