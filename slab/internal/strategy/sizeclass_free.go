package strategy

import (
	"math"

	"github.com/bufslab/bufslab/device"
)

// holdBlock is the keeper's hold.
func (s *Sizeclass) holdBlock(b device.Block) (leave []device.Block, ok bool) {
	if leave, ok = s.holdCarved(b); ok {
		return s.shrink(leave), true
	}
	a, n, ok := s.takeBack(b)
	if !ok {
		return nil, false
	}
	leave = s.held.Push(a.key, a.block, n, nil)
	if a.key >= 0 {
		leave = s.shrink(leave)
	}
	return leave, true
}

// holdCarved is holdBlock of a block of a slab.
func (s *Sizeclass) holdCarved(b device.Block) (leave []device.Block, ok bool) {
	i, off, rounding, ok := s.slabs.find(b)
	if !ok {
		return nil, false
	}
	s.usage.sub(b.Len, rounding)
	if s.slabs.Push(i, off) && (s.slabs.HasOthers(i) || int64(b.Len)+rounding > s.maxKept || s.overHeld()) {
		leave = s.holdSlab(i, nil)
	} else if s.isOver(i) {
		s.giveUpSlab(i)
	}
	return leave, true
}

// holdSlab makes the empty slab i a whole block again.
func (s *Sizeclass) holdSlab(i int32, leave []device.Block) []device.Block {
	mem, n := s.slabs.remove(i)
	return s.held.Push(mem.key, mem.block, n, leave)
}

// gatherSlabs is the keeper's gather.
func (s *Sizeclass) gatherSlabs(idle int) []device.Block {
	if idle == 0 {
		s.giveUpQuarantined()
	}
	return s.holdEmpty()
}

// holdEmpty makes all empty slabs whole blocks, and returns the blocks that leave for them.
func (s *Sizeclass) holdEmpty() (leave []device.Block) {
	for i := int32(1); i <= s.slabs.Max(); i++ {
		if s.slabs.At(i).Empty() {
			leave = s.holdSlab(i, leave)
		}
	}
	return leave
}

// overHeld reports whether too much is held.
func (s *Sizeclass) overHeld() bool {
	return s.held.Stopped() || s.held.Bytes()+s.slabs.Counts().FreeBytes > s.maxHeld
}

// shrink lets whole blocks go until free blocks of slabs leave room for the rest.
func (s *Sizeclass) shrink(leave []device.Block) []device.Block {
	if s.maxHeld == math.MaxInt64 {
		return leave
	}
	return s.held.ShrinkBytes(max(0, s.maxHeld-s.slabs.Counts().FreeBytes), leave)
}

// Usage reports where the managed bytes are.
func (s *Sizeclass) Usage() device.Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.slabs.Counts()
	u := device.Usage(s.usage)
	u.HeldBlocks = int64(s.held.Blocks()) + c.FreeBlocks
	u.HeldBytes = s.held.Bytes() + c.FreeBytes
	u.UnusableBytes = c.TailBytes + c.QuarantinedBytes + s.slabs.excess
	return u
}
