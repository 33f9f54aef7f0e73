package strategy

import (
	"github.com/bufslab/bufslab/device"
)

// Quarantine takes a block out of use for good. A slab goes back with its last block.
func (s *Slab) Quarantine(b device.Block, extent int32) bool {
	return s.quarantine(b, extent, s.takeBlock)
}

// takeBlock is takeExtent of a block that may be of a slab: the slab's extent goes with its last
// block.
func (s *Slab) takeBlock(extent int32, off, size int) (with int32, out bool) {
	i := s.heap.Span(extent)
	switch {
	case i == 0:
		return s.takeExtent(extent, off, size)
	case !s.spans.IsOut(i, off, size):
		return 0, false
	case !s.spans.Quarantine(i) && !s.isOver(i):
		return 0, true
	}
	return s.spans.Remove(i), true
}

// giveUpQuarantined puts slabs into quarantine that blocks in quarantine keep from going back.
func (s *Slab) giveUpQuarantined() {
	var list []int32
	s.heap.Lock()
	for _, i := range s.spans.Quarantined() {
		list = append(list, s.spans.Remove(i))
	}
	s.heap.Unlock()
	for _, extent := range list {
		s.heap.Quarantine(extent)
	}
}
