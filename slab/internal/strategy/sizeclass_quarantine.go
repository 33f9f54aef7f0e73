package strategy

import "github.com/bufslab/bufslab/device"

// Quarantine takes a block out of use for good. A slab goes back with its last block.
func (s *Sizeclass) Quarantine(b device.Block, _ int32) bool {
	return s.quarantineCarved(b) || s.quarantine(b)
}

// quarantineCarved is Quarantine of a block of a slab.
func (s *Sizeclass) quarantineCarved(b device.Block) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
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
	if s.spans.Quarantine(i) || s.isOver(i) {
		s.giveUpSlab(i)
	}
	return true
}

// isOver reports whether nothing is held any more, and only blocks in quarantine keep slab i.
func (s *Sizeclass) isOver(i int32) bool { return s.held.Stopped() && s.spans.IsLost(i) }

// giveUpSlab gives up a slab whose blocks are in quarantine or free. The caller holds the lock.
func (s *Sizeclass) giveUpSlab(i int32) {
	mem := s.spans.At(i).Mem.block
	if giveUp(s.up, mem) {
		s.excess -= s.up.Footprint(mem) - int64(mem.Len)
		s.slabs.Remove(mem)
		s.spans.Remove(i)
	}
}

// giveUpQuarantined gives up what blocks in quarantine keep from going upstream. The caller holds the lock.
func (s *Sizeclass) giveUpQuarantined() {
	for _, i := range s.spans.Quarantined() {
		s.giveUpSlab(i)
	}
}
