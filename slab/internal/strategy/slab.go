package strategy

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/pageheap"
	"github.com/bufslab/bufslab/slab/internal/sizeclass"
	"github.com/bufslab/bufslab/slab/internal/span"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A Slab is the strategy slab, the default off the Go heap. It carves blocks
// up to 256 bytes from slabs of equal blocks, and cuts slabs and all larger blocks
// from the heap of bestfit. Small blocks then cost a bit each instead of a record, and
// do not scatter the heap. A slab goes back to the heap as soon as it is empty.
//
// Blocks are aligned to Options.Align: unless set 16 bytes, or the alignment that the
// device needs. Blocks above 256 bytes are aligned to 64 bytes at least, a cache line. Small
// blocks have eight classes a doubling, multiples of Align. Alloc and Free take constant time.
type Slab struct {
	Bestfit
	grid *sizeclass.Grid

	spans   *span.List[int32] // of extents; under the heap's lock, as all below
	stopped bool              // StopHolding was called
	carves  int               // the largest size that is carved; 0 carves none
}

const (
	// SlabCarveLimit is the largest size that is carved. For larger blocks a
	// record each weighs little, and slabs scatter memory.
	SlabCarveLimit = 256
	lineBytes      = 64
	// A slab has room for a sixteenth of its class's active blocks, but for at
	// least minCarved blocks, within these bounds.
	carvedShare  = 16
	minCarved    = 4
	minSlabBytes = 512
	maxSlabBytes = pageheap.MaxSpanBytes
)

var _, _ = Strategy((*Slab)(nil)), Numbered((*Slab)(nil))

// NewSlab returns a Slab over up.
func NewSlab(up upstream.Checked, o pageheap.Options) *Slab {
	g := sizeclass.NewGrid(8, o.Align)
	o.Align = max(o.Align, lineBytes)
	s := &Slab{
		Bestfit: *NewBestfit(up, o),
		grid:    g,
		spans:   span.NewList[int32](g.Index(SlabCarveLimit) + 1),
		carves:  SlabCarveLimit,
	}
	if o.Align*minCarved > maxSlabBytes { // a slab would have hardly a block
		s.carves = 0
	}
	return s
}

// Alloc returns a block of size bytes; see slab.Allocator.
func (s *Slab) Alloc(size int) (device.Block, error) {
	b, _, err := s.AllocExtent(size)
	return b, err
}

// AllocExtent is Alloc, with the number of the extent that has the block.
func (s *Slab) AllocExtent(size int) (device.Block, int32, error) {
	if size > s.carves {
		return s.Bestfit.AllocExtent(size)
	}
	return s.alloc(size, s.carve)
}

// AllocFree is AllocExtent of memory that is free; see Numbered.
func (s *Slab) AllocFree(size int) (b device.Block, extent int32) {
	if size > s.carves {
		return s.Bestfit.AllocFree(size)
	}
	b, extent, ok := s.pop(s.grid.Index(size), size)
	if ok {
		s.handedOut(size)
	}
	return b, extent
}

// carve returns a block of a slab, of a new slab if need be. If there is no room for a slab, it takes
// a larger class's free block or an extent of the heap. The caller holds the heap's lock.
func (s *Slab) carve(size int) (device.Block, int32, error) {
	class := s.grid.Index(size)
	for {
		if b, extent, ok := s.pop(class, size); ok {
			return b, extent, nil
		}
		err := s.addSlab(class)
		if err == nil {
			continue
		}
		if !upstream.OutOfMemory(err) {
			return device.Block{}, 0, err
		}
		for k := class; k < s.spans.Classes(); k++ {
			if b, extent, ok := s.pop(k, size); ok {
				return b, extent, nil
			}
		}
		return s.cut(size)
	}
}

// pop takes a free block of the class for size bytes.
func (s *Slab) pop(class, size int) (b device.Block, extent int32, ok bool) {
	i, off, ok := s.spans.Pop(class, size)
	if !ok {
		return b, 0, false
	}
	extent = s.spans.At(i).Mem
	return s.heap.Block(extent, off, size), extent, true
}

// addSlab makes an extent a slab of the class.
func (s *Slab) addSlab(class int) error {
	size := s.grid.Size(class)
	n := max(minCarved, s.spans.Live(class)/carvedShare)
	extent, err := s.heap.Alloc(min(max(n*size, minSlabBytes), maxSlabBytes))
	if err != nil {
		return err
	}
	s.heap.SetSpan(extent, s.spans.Add(class, size, s.heap.Len(extent), extent))
	return nil
}

// Free takes a block back; see slab.Allocator.
func (s *Slab) Free(b device.Block) { s.FreeExtent(b, 0) }

// FreeExtent is Free of a block whose extent has that number; 0 is not known.
func (s *Slab) FreeExtent(b device.Block, extent int32) {
	s.heap.Lock()
	over, ok := s.TakeBack(b, extent)
	s.heap.Unlock()
	if over || !ok {
		s.TookBack(b, ok)
	}
}

// TakeBack is FreeExtent without the lock; see Numbered.
func (s *Slab) TakeBack(b device.Block, extent int32) (over, ok bool) {
	if b.Len <= SlabCarveLimit {
		return s.takeBackSmall(b, extent)
	}
	if !s.heap.FreeBlock(b, extent) {
		return false, false
	}
	return s.cameBack(b.Len), true
}

// takeBackSmall is TakeBack of a block that may be of a slab.
func (s *Slab) takeBackSmall(b device.Block, extent int32) (over, ok bool) {
	extent, off := s.heap.Locate(b, extent)
	i := s.heap.Span(extent)
	if i == 0 {
		return s.Bestfit.TakeBack(b, extent)
	}
	if !s.spans.IsOut(i, off, b.Len) {
		return false, false
	}
	if s.spans.Push(i, off) { // an empty slab goes back at once: that costs no call upstream
		s.heap.Free(s.spans.Remove(i))
	}
	return s.cameBack(b.Len) || s.isOver(i), true
}

// isOver reports whether nothing is held any more, and only blocks in quarantine keep slab i. The
// caller holds the heap's lock.
func (s *Slab) isOver(i int32) bool { return s.stopped && s.spans.IsLost(i) }

// TookBack does the rest of a Free after TakeBack; see Numbered.
func (s *Slab) TookBack(b device.Block, ok bool) {
	if s.over() {
		s.giveUpQuarantined()
	}
	s.Bestfit.TookBack(b, ok)
}

// over reports whether StopHolding was called.
func (s *Slab) over() bool {
	s.heap.Lock()
	defer s.heap.Unlock()
	return s.stopped
}

// FreeHeld gives regions that are wholly free upstream, and free pages within ranges.
func (s *Slab) FreeHeld() {
	s.giveUpQuarantined()
	s.Bestfit.FreeHeld()
}

// StopHolding is FreeHeld, and from now on memory goes upstream as soon as it can.
func (s *Slab) StopHolding() {
	s.heap.Lock()
	s.stopped = true
	s.heap.Unlock()
	s.giveUpQuarantined()
	s.Bestfit.StopHolding()
}

// Trim ends an epoch; see slab.Trimmer.
func (s *Slab) Trim(idle int) int64 {
	if idle == 0 {
		s.giveUpQuarantined()
	}
	return s.Bestfit.Trim(idle)
}

// Shrink gives back about n bytes, the longest free first.
func (s *Slab) Shrink(n int64) {
	s.giveUpQuarantined()
	s.Bestfit.Shrink(n)
}

// Usage reports where the managed bytes are.
func (s *Slab) Usage() device.Usage {
	s.heap.Lock()
	defer s.heap.Unlock()
	u, c := s.usage(), s.spans.Counts()
	u.HeldBlocks += c.FreeBlocks
	u.HeldBytes += c.FreeBytes
	u.UnusableBytes += c.TailBytes + c.QuarantinedBytes
	u.RoundingBytes -= c.FreeBytes + c.TailBytes + c.QuarantinedBytes
	return u
}
