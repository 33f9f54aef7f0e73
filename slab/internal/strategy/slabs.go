package strategy

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/span"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A slabs has whole blocks of an upstream that are cut into equal blocks: slabs.
type slabs struct {
	*span.List[allocation]
	up      upstream.Checked
	regions upstream.Regions // from blocks to spans
	excess  int64            // bytes of regions of slabs beyond the bytes asked for
}

func newSlabs(up upstream.Checked, classes int) slabs {
	return slabs{List: span.NewList[allocation](classes), up: up, regions: upstream.NewRegions()}
}

// add makes a whole block a slab of a class, whose blocks have size bytes.
func (s *slabs) add(class, size int, mem allocation) {
	s.regions.Add(mem.block, s.Add(class, size, mem.block.Len, mem))
	s.excess += s.up.Footprint(mem.block) - int64(mem.block.Len)
}

// remove makes slab i a whole block again. It returns the bytes of that block upstream.
func (s *slabs) remove(i int32) (mem allocation, bytes int64) {
	mem = s.Remove(i)
	s.regions.Remove(mem.block)
	bytes = s.up.Footprint(mem.block)
	s.excess -= bytes - int64(mem.block.Len)
	return mem, bytes
}

// carve takes a block of the class for size bytes. The block has rounding bytes beyond them.
func (s *slabs) carve(class, size int) (b device.Block, rounding int64, ok bool) {
	i, off, ok := s.Pop(class, size)
	if !ok {
		return b, 0, false
	}
	v := s.At(i)
	mem := v.Mem.block
	return device.Block{Region: mem.Region, Off: mem.Off + off, Len: size}, int64(v.Size - size), true
}

// find returns the slab of an active block, the block's offset in the slab, and the rounding that carve
// has returned.
func (s *slabs) find(b device.Block) (i int32, off int, rounding int64, ok bool) {
	i, ok = s.regions.Find(b)
	if !ok || b.Len <= 0 {
		return 0, 0, 0, false
	}
	v := s.At(i)
	off = b.Off - v.Mem.block.Off
	return i, off, int64(v.Size - b.Len), s.IsOut(i, off, b.Len)
}
