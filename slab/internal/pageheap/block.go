package pageheap

import "github.com/bufslab/bufslab/device"

// FreeBlock is Free of the extent that is the block b, and no span, or reports false where
// none is. A guess is as for Locate, and of the region of b. The caller holds the lock.
func (h *Heap) FreeBlock(b device.Block, guess int32) bool {
	i := h.extentOf(b, guess)
	if !h.inUse(i) {
		return false
	}
	if x := h.at(i); x.up != 0 || h.Size(i) != b.Len || h.segs[x.seg].block.Off+x.off != b.Off {
		return false
	}
	h.Free(i)
	return true
}

// Locate returns the used extent that b lies in, 0 if there is none, and where
// in the extent b begins. A guess other than 0 is the only extent looked at.
// The caller holds the lock.
func (h *Heap) Locate(b device.Block, guess int32) (i int32, off int) {
	if i = h.extentOf(b, guess); !h.inUse(i) {
		return none, 0
	}
	x := h.at(i)
	in := &h.segs[x.seg].block
	off = b.Off - in.Off - x.off
	if b.Region != in.Region || off < 0 || off > x.len-b.Len {
		return none, 0
	}
	return i, off
}

// extentOf returns the guess, or what search finds where there is none.
func (h *Heap) extentOf(b device.Block, guess int32) int32 {
	if guess != none {
		return guess
	}
	return h.search(b)
}

// search returns the extent that the page map has for b, or none.
func (h *Heap) search(b device.Block) int32 {
	seg, ok := h.regions.Find(b)
	if !ok {
		return none
	}
	return h.lookup(seg, b.Off-h.segs[seg].block.Off)
}

// Block returns size bytes from off of extent i as a block of the upstream's
// region. The caller holds the lock.
func (h *Heap) Block(i int32, off, size int) device.Block {
	x := h.at(i)
	seg := h.segs[x.seg].block
	return device.Block{Region: seg.Region, Off: seg.Off + x.off + off, Len: size}
}

// Len returns the bytes that extent i has, Size those that Alloc was asked for.
// The caller holds the lock.
func (h *Heap) Len(i int32) int { return h.at(i).len }

// Size returns what Alloc was asked for when it returned extent i. The caller holds the lock.
func (h *Heap) Size(i int32) int { return h.at(i).len - int(h.at(i).excess) }

// SetSpan gives the used extent i a number of its owner's, above 0: it is a
// span of smaller blocks. It lasts until Free. The caller holds the lock.
func (h *Heap) SetSpan(i, span int32) { h.at(i).up = span }

// Span returns the number that SetSpan gave extent i, or 0. The caller holds the lock.
func (h *Heap) Span(i int32) int32 { return h.at(i).up }
