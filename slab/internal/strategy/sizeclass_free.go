package strategy

import (
	"math"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// Free takes a block back; see slab.Allocator.
func (s *Sizeclass) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	leave, ok := s.hold(b)
	if !ok {
		panic(upstream.NotOut(b))
	}
	s.free(leave)
}

// hold holds b if it is out, and returns what has to go upstream for it.
func (s *Sizeclass) hold(b device.Block) (leave []device.Block, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if leave, ok = s.freeCarved(b); ok {
		return leave, true
	}
	return s.freeWhole(b)
}

// freeCarved is hold of a block of a slab.
func (s *Sizeclass) freeCarved(b device.Block) (leave []device.Block, ok bool) {
	i, ok := s.slabs.Find(b)
	if !ok || b.Len <= 0 {
		return nil, false
	}
	v := s.spans.At(i)
	off := b.Off - v.Mem.block.Off
	if !s.spans.IsOut(i, off, b.Len) {
		return nil, false
	}
	s.usage.sub(b.Len, int64(v.Size-b.Len))
	if s.spans.Push(i, off) && (s.spans.HasOthers(i) || int64(v.Size) > s.maxKept || s.overHeld()) {
		leave = s.holdSlab(i, nil)
	} else if s.isOver(i) {
		s.giveUpSlab(i)
	}
	return s.shrink(leave), true
}

// freeWhole is hold of a block of its own.
func (s *Sizeclass) freeWhole(b device.Block) (leave []device.Block, ok bool) {
	a, n, ok := s.takeBack(b)
	if !ok {
		return nil, false
	}
	leave = s.held.Push(a.key, a.block, n, nil)
	if a.key < 0 {
		return leave, true
	}
	return s.shrink(leave), true
}

// holdSlab makes the empty slab i a whole block again.
func (s *Sizeclass) holdSlab(i int32, leave []device.Block) []device.Block {
	mem := s.spans.Remove(i)
	s.slabs.Remove(mem.block)
	n := s.up.Footprint(mem.block)
	s.excess -= n - int64(mem.block.Len)
	return s.held.Push(mem.key, mem.block, n, leave)
}

// gatherSlabs is the keeper's gather.
func (s *Sizeclass) gatherSlabs(idle int) []device.Block {
	if idle == 0 {
		s.giveUpQuarantined()
	}
	return s.holdEmpty()
}

// holdEmpty makes all slabs that are empty whole blocks, and returns what leaves for them.
func (s *Sizeclass) holdEmpty() (leave []device.Block) {
	for i := int32(1); i <= s.spans.Max(); i++ {
		if s.spans.At(i).Empty() {
			leave = s.holdSlab(i, leave)
		}
	}
	return leave
}

// overHeld reports whether more is held than may be.
func (s *Sizeclass) overHeld() bool {
	return s.held.Stopped() || s.held.Bytes()+s.spans.Counts().FreeBytes > s.maxHeld
}

// shrink lets whole blocks go until free blocks of slabs leave room for the rest.
func (s *Sizeclass) shrink(leave []device.Block) []device.Block {
	if s.maxHeld == math.MaxInt64 {
		return leave
	}
	return s.held.ShrinkBytes(max(0, s.maxHeld-s.spans.Counts().FreeBytes), leave)
}

// Usage reports where the managed bytes are.
func (s *Sizeclass) Usage() Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.spans.Counts()
	u := s.usage
	u.HeldBlocks = int64(s.held.Blocks()) + c.FreeBlocks
	u.HeldBytes = s.held.Bytes() + c.FreeBytes
	u.UnusableBytes = c.TailBytes + c.QuarantinedBytes + s.excess
	return u
}
