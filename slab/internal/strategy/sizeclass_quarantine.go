package strategy

import "github.com/bufslab/bufslab/device"

// Quarantine takes a block out of use for good. A slab goes back with its last block.
func (s *Sizeclass) Quarantine(b device.Block, _ int32) bool {
	s.mu.Lock()
	a, whole := s.whole[at(b)]
	if !whole {
		defer s.mu.Unlock()
		return s.loseCarved(b)
	}
	s.mu.Unlock()
	if a.asked != b.Len || !giveUp(s.up, a.block) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.whole, at(b))
	s.usage.sub(b.Len, s.up.Footprint(a.block)-int64(b.Len))
	return true
}

// loseCarved is Quarantine of a block of a slab. The caller holds the lock.
func (s *Sizeclass) loseCarved(b device.Block) bool {
	i, ok := s.slabs.Find(b)
	if !ok {
		return false
	}
	v := s.spans.At(i)
	mem := v.Mem.block
	if off := b.Off - mem.Off; !s.spans.IsOut(i, off, b.Len) {
		return false
	}
	s.usage.sub(b.Len, int64(v.Size-b.Len))
	if s.spans.Lose(i) {
		s.giveUpSlab(i)
	}
	return true
}

// giveUpSlab gives up a slab whose blocks are lost or free. The caller holds the lock.
func (s *Sizeclass) giveUpSlab(i int32) {
	mem := s.spans.At(i).Mem.block
	if giveUp(s.up, mem) {
		s.excess -= s.up.Footprint(mem) - int64(mem.Len)
		s.slabs.Remove(mem)
		s.spans.Remove(i)
	}
}

// giveUpLost gives up what lost blocks keep from going upstream. The caller holds the lock.
func (s *Sizeclass) giveUpLost() {
	for _, i := range s.spans.Lost() {
		s.giveUpSlab(i)
	}
}
