package device

import (
	"strings"
	"sync"
	"unsafe"

	"github.com/bufslab/bufslab/device/internal/base"
)

// heap is Go memory. The garbage collector sees and owns its regions: see
// collected.go. A region is aligned to the largest power of two that divides its
// size, within 16 and 4096 bytes, and to at least 64 from 64 bytes up. Memory that
// Free gives up goes back at the next collection.
type heap struct{ hostMemory }

func openHeap(rest string) (Device, error) {
	if rest != "" {
		return nil, badRest("heap", rest, "nothing")
	}
	return &heap{hostMemory{base.Named("device", "heap")}}, nil
}

// heapLimit is the size above which Alloc does not even try: make would not panic
// but end the process, and Go cannot recover from that. Below heapLimit that can
// still happen if the system allows the process less memory than there is.
var heapLimit = sync.OnceValue(func() int {
	_, total, err := systemMemory()
	if err != nil {
		total = 1 << 40 // not known: no machine of today has more
	}
	return int(min(total, addressable))
})

func (h *heap) Alloc(size int) (Block, error) { return h.AllocAligned(size, 1) }

// AllocAligned is Alloc of a region at a multiple of align, a power of two.
func (h *heap) AllocAligned(size, align int) (Block, error) {
	if err := h.CheckAlloc(size); err != nil || size == 0 {
		return Block{}, err
	}
	if size > heapLimit() {
		return Block{}, h.AllocError(size, ErrOutOfMemory)
	}
	return Block{Region: newHeapRegion(h, size, max(align, alignOf(size))), Len: size}, nil
}

func (h *heap) Free(b Block) {
	if b == (Block{}) {
		return
	}
	r, ok := b.Region.(*heapRegion)
	if !ok || r.dev != h || b.Off != 0 || b.Len != r.size || !r.drop() {
		h.BadFree(b.Len, b.Off)
	}
}

// alignOf is the alignment that Alloc promises for a size.
func alignOf(size int) int {
	least := 64
	if size < 64 {
		least = 16
	}
	return min(max(size&-size, least), 4096)
}

// makeAligned returns size bytes at a multiple of align and their
// offset in the allocation. As a rule it is enough to round the size up, because
// the runtime aligns its size classes. Under -asan, which puts a zone in front
// of every object, it is not, and the allocation needs slack.
// Allocations have at least 16 bytes, because the runtime puts smaller objects together,
// so that they could not have a finalizer each.
func makeAligned(size, align int) (m []byte, off int) {
	m = dirty((size + align - 1) &^ (align - 1))
	if address(m)%uintptr(align) == 0 {
		return m, 0
	}
	m = dirty(size + align - 1)
	return m, int(-address(m) % uintptr(align))
}

// dirty is make without clearing: the contents are undefined. In the standard
// library only a strings.Builder asks the runtime for such memory. A Builder has
// no bytes to show before the first is written.
func dirty(n int) []byte {
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0)
	return unsafe.Slice(unsafe.StringData(b.String()), n)
}
