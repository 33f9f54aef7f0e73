//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris || windows

package device

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/bufslab/bufslab/device/internal/base"
)

// mmap is memory outside the Go heap: the collector neither scans nor counts
// it. Regions are whole pages and page-aligned. Free unmaps a block, so a view
// that outlives its block faults. Small blocks cost a page and a system call
// each, and on Windows 64 KiB of addresses: use mmap below a strategy that cuts
// small blocks from large ones.
//
// What each system does is in mmap_unix.go and mmap_windows.go.
type mmap struct {
	hostMemory
	fixed bool // told not to extend
	page  int

	pages     string // of ranges: huge, small, or "" as the system decides
	rangePage int    // in which ranges commit
}

func openMmap(rest string) (Device, error) {
	if !slices.Contains([]string{"", "fixed", "huge", "small"}, rest) {
		return nil, badRest("mmap", rest, "fixed, huge or small")
	}
	name := strings.TrimSuffix("mmap:"+rest, ":")
	d := &mmap{hostMemory: hostMemory{base.Named("device", name)}, fixed: rest == "fixed", page: os.Getpagesize()}
	d.rangePage = d.page
	switch rest {
	case "huge":
		d.pages, d.rangePage = rest, hugePage
	case "small":
		d.pages = rest
	}
	if err := d.tryPages(); err != nil {
		return nil, fmt.Errorf("device: %s pages on mmap: %w", rest, err)
	}
	return d, nil
}

// hugePage is the alignment of ranges: pages of this size can be behind them, and blocks can be
// aligned to it.
const hugePage = 2 << 20

func (d *mmap) Alloc(size int) (Block, error) {
	return d.AllocAligned(size, d.page)
}

// AllocAligned is Alloc of a region at a multiple of align, a power of two.
func (d *mmap) AllocAligned(size, align int) (Block, error) {
	if err := d.CheckAlloc(size); err != nil || size == 0 {
		return Block{}, err
	}
	if size > addressable {
		return Block{}, d.AllocError(size, ErrOutOfMemory)
	}
	r, err := d.mapped(roundUp(size, d.page), align, usable)
	if err != nil {
		return Block{}, err
	}
	r.lent = size
	return Block{Region: r, Len: size}, nil
}

// Traits says that regions are whole pages.
func (d *mmap) Traits() Traits { return Traits{Grain: d.page} }

func (d *mmap) Free(b Block) {
	if b == (Block{}) {
		return
	}
	r, ok := b.Region.(*mmapRegion)
	if !ok || r.dev != d || b.Off != 0 || b.Len != r.lent || r.lent == 0 || !r.unmap() {
		d.BadFree(b.Len, b.Off)
	}
}

// An mmapRegion is one mapping: a block of Alloc or a reserved range.
type mmapRegion struct {
	dev  *mmap
	size atomic.Int64         // whole pages; only GiveUp lowers it
	lent int                  // bytes that Alloc was asked for; 0 for a range
	mem  atomic.Pointer[byte] // nil once unmapped, which also tells a double Free
	mapping
}

// Whether mapped makes pages that can be used, or addresses alone.
const usable, unusable = true, false

func (r *mmapRegion) Size() int { return int(r.size.Load()) }

func (r *mmapRegion) Bytes() []byte {
	p := r.mem.Load()
	if p == nil {
		return nil
	}
	return unsafe.Slice(p, r.Size())
}

// Quarantine gives back the whole pages within the n bytes from off, and makes them
// inaccessible.
func (r *mmapRegion) Quarantine(off, n int) error {
	m := r.Bytes()
	if err := base.CheckSpan("device", off, n, len(m), 1); err != nil {
		return err
	}
	lo, hi := roundUp(off, r.dev.page), (off+n)&^(r.dev.page-1)
	if lo >= hi {
		return nil
	}
	if err := release(m, lo, hi); err != nil {
		return err
	}
	r.shut(m, lo, hi)
	return nil
}

// unmap reports false if the region was unmapped before.
func (r *mmapRegion) unmap() bool {
	p := r.mem.Swap(nil)
	if p == nil {
		return false
	}
	r.free(unsafe.Slice(p, r.Size()))
	return true
}
