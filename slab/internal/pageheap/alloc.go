package pageheap

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/align"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// Alloc returns a used extent of at least size bytes. The caller holds the
// lock, which is given back while the heap goes upstream.
func (h *Heap) Alloc(size int) (int32, error) {
	n := align.Up(size, h.align)
	for {
		if i := h.AllocFree(size); i != none {
			return i, nil
		}
		if h.drainBeforePeak(n) {
			continue
		}
		err := h.unlocked(func() error { return h.grow(n) })
		if err == nil {
			continue
		}
		if i := h.scan(free, h.listFor(n), n, maxInt); i != none && upstream.OutOfMemory(err) {
			return h.take(i, n, size), nil // too deep in its list for find
		}
		return none, err
	}
}

// Free takes a used extent back. The caller holds the lock.
func (h *Heap) Free(i int32) {
	h.unmapUsed(i)
	x := h.at(i)
	h.segs[x.seg].used--
	if x.len >= sidedFrom {
		x.side = h.side()
	}
	if i = h.merge(i, free); h.OverHeld() {
		h.freed = append(h.freed, i)
	}
	h.peakLeft = max(h.peakLeft, h.usedBytes())
}

// FreeBlock is Free of the extent that is exactly the block b, and no span. If there is none it
// reports false. A guess is as for Locate, and of the region of b. The caller holds the lock.
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
