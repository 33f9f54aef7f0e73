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
	i, _, rounding, ok := s.slabs.find(b)
	if !ok {
		return false
	}
	s.usage.sub(b.Len, rounding)
	if s.slabs.Quarantine(i) || s.isOver(i) {
		s.giveUpSlab(i)
	}
	return true
}

// isOver reports whether nothing is held any more, and only blocks in quarantine keep slab i.
func (s *Sizeclass) isOver(i int32) bool { return s.held.Stopped() && s.slabs.IsLost(i) }

// giveUpSlab gives up a slab whose blocks are in quarantine or free. The caller holds the lock.
func (s *Sizeclass) giveUpSlab(i int32) {
	if giveUp(s.up, s.slabs.At(i).Mem.block) {
		s.slabs.remove(i)
	}
}

// giveUpQuarantined gives up slabs that blocks in quarantine keep from going upstream. The caller holds the lock.
func (s *Sizeclass) giveUpQuarantined() {
	for _, i := range s.slabs.Quarantined() {
		s.giveUpSlab(i)
	}
}
