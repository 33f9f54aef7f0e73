package slab

import "github.com/bufslab/bufslab/device"

// Slab carves blocks up to 1 KiB from slabs of equal blocks, and cuts slabs
// and everything larger from the heap of [Bestfit]. Small blocks then cost a
// bit each instead of a record, do not scatter the heap, and free their slab
// as soon as it is empty. It is the default off the Go heap.
//
// Blocks are aligned to Config.Align: unless set 16 bytes, or what a
// [device.Aligned] upstream needs. Small ones have eight classes a doubling,
// multiples of it. Slab is safe for concurrent use; Alloc and Free take
// constant time.
type Slab struct {
	arena
	grid   Classes
	small  int // largest carved size
	carver carver[int32]

	carvedBytes int64 // of small blocks that are out
}

const (
	// carvedLimit is the largest size that is carved: beyond, a record a
	// block weighs little and slabs scatter memory.
	carvedLimit = 1 << 10
	// A slab has room for a sixteenth of what its class has out, but for
	// minCarved blocks at least, within these bounds.
	carvedShare  = 16
	minCarved    = 4
	minSlabBytes = 512
	maxSlabBytes = 16 << 10
)

// NewSlab returns a Slab over upstream. Of c it reads Align, MissTarget,
// Decommit and MaxHeld.
func NewSlab(upstream Allocator, c Config) *Slab {
	c = c.forStrategy("slab", upstream)
	g := Grid(8, c.Align)
	return &Slab{
		arena:  newArena(upstream, c, c.Align),
		grid:   g,
		small:  carvedLimit,
		carver: newCarver[int32](g.Index(carvedLimit) + 1),
	}
}

// Alloc returns a block of size bytes; see [Allocator].
func (s *Slab) Alloc(size int) (b device.Block, err error) {
	if err := checkSize(size); err != nil || size == 0 {
		return device.Block{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grew(size)
	if size <= s.small {
		b, err = s.carve(size)
	} else {
		b, err = s.allocLocked(size)
	}
	if err != nil {
		s.shrank(size)
		return b, err
	}
	s.asked.add(size)
	return b, nil
}

// carve returns a block of a slab, of a new one if need be. When there is no
// room for a slab, a larger class's free block or a scrap of the heap will do.
func (s *Slab) carve(size int) (device.Block, error) {
	class := s.grid.Index(size)
	for {
		if i, off, ok := s.carver.take(class, size); ok {
			return s.carved(i, off, size), nil
		}
		err := s.addSlab(class)
		if err == nil {
			continue
		}
		if !outOfMemory(err) {
			return device.Block{}, err
		}
		for k := class; k < len(s.carver.classes); k++ {
			if i, off, ok := s.carver.take(k, size); ok {
				return s.carved(i, off, size), nil
			}
		}
		return s.allocLocked(size)
	}
}

func (s *Slab) carved(i int32, off, size int) device.Block {
	v := &s.carver.slabs[i]
	s.carvedBytes += int64(v.size)
	return s.blockLocked(s.at(v.mem), off, size)
}

func (s *Slab) addSlab(class int) error {
	size := s.grid.Size(class)
	n := max(minCarved, s.carver.classes[class].live/carvedShare)
	m, err := s.takeLocked(min(max(n*size, minSlabBytes), maxSlabBytes))
	if err != nil {
		return err
	}
	c := s.at(m)
	i := s.carver.add(class, size, c.len, m)
	s.segs[c.seg].slabs.put(c.off, c.len, i)
	return nil
}

// Free takes a block back; see [Allocator].
func (s *Slab) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	s.mu.Lock()
	if !s.freeAny(b) {
		s.mu.Unlock()
		panic(notOut(b))
	}
	s.shrank(b.Len)
	s.asked.sub(b.Len)
	s.settle()
}

// freeAny takes b back and reports whether it was out.
func (s *Slab) freeAny(b device.Block) bool {
	if b.Len <= s.small && s.freeCarved(b) {
		return true
	}
	i := s.lookupLocked(b)
	if i != none {
		s.freeLocked(i)
	}
	return i != none
}

// freeCarved takes b back if it is a block of a slab that is out.
func (s *Slab) freeCarved(b device.Block) bool {
	seg, off := s.segmentLocked(b)
	if seg < 0 || b.Len <= 0 {
		return false
	}
	i := s.segs[seg].slabs.get(off, func(i int32) int { return s.at(s.carver.slabs[i].mem).off })
	if i == none {
		return false
	}
	v := &s.carver.slabs[i]
	off -= s.at(v.mem).off
	if !s.carver.out(i, off, b.Len) {
		return false
	}
	s.carvedBytes -= int64(v.size)
	if s.carver.give(i, off) {
		s.dropSlab(i)
	}
	return true
}

// dropSlab gives the memory of slab i, which is empty, back to the heap: that costs no
// call upstream, so there is nothing to gain by waiting.
func (s *Slab) dropSlab(i int32) {
	m := s.carver.slabs[i].mem
	c := *s.at(m)
	s.carver.remove(i, c.len)
	s.segs[c.seg].slabs.remove(c.off, c.len)
	s.freedLast = s.giveLocked(m)
}

// Usage reports where the managed bytes are.
func (s *Slab) Usage() Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.asked
	u.RoundingBytes = s.activeBytes + s.carvedBytes - u.ActiveBytes
	u.HeldBlocks = s.arena.index[free].count + s.carver.freeBlocks
	u.HeldBytes = s.arena.index[free].bytes + s.carver.freeBytes
	u.UnusableBytes = s.carver.tailBytes + s.excess
	return u
}
