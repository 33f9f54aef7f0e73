//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris

package device

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/device/internal/base"
	"github.com/bufslab/bufslab/internal/intervals"
)

// mmap is memory outside the Go heap: the collector neither scans nor counts
// it. Regions are whole pages and page-aligned. Free unmaps a block, so a view
// that outlives its block faults. Small blocks cost a page and a system call
// each: use mmap below a strategy that cuts small blocks from large ones.
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
	return d, d.tryPages()
}

// hugePage is the alignment of ranges: pages of this size can be behind them, and blocks can be
// aligned to it.
const hugePage = 2 << 20

// tryPages fails where the system cannot be told which pages to use.
func (d *mmap) tryPages() error {
	if d.pages == "" {
		return nil
	}
	r, err := d.mapped(d.page, 0, unix.PROT_NONE, mapNoReserve)
	if err != nil {
		return err
	}
	defer r.unmap()
	if err := advise(r.Bytes(), d.pages); err != nil {
		return fmt.Errorf("device: %s pages on mmap: %v: %w", d.pages, err, ErrUnavailable)
	}
	return nil
}

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
	r, err := d.mapped(roundUp(size, d.page), align, unix.PROT_READ|unix.PROT_WRITE, 0)
	if err != nil {
		return Block{}, err
	}
	r.lent = size
	return Block{Region: r, Len: size}, nil
}

// mapped makes a region of size bytes at a multiple of align. It does not go
// through unix.Mmap, which keeps a map of all mappings behind one lock.
func (d *mmap) mapped(size, align, prot, flags int) (*mmapRegion, error) {
	r := &mmapRegion{dev: d}
	if err := r.takeMappings(regionMappings); err != nil {
		return nil, err
	}
	p, err := alignedMapping(size, max(align, d.page), prot, flags|unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		r.giveMappings()
		return nil, fmt.Errorf("device: mmap of %d bytes: %v: %w", size, err, sentinel(err))
	}
	r.size.Store(int64(size))
	r.mem.Store((*byte)(p))
	return r, nil
}

// alignedMapping maps more than size bytes if the first try is at no multiple of align, and unmaps the rest
// before and behind.
func alignedMapping(size, align, prot, flags int) (unsafe.Pointer, error) {
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(size), prot, flags)
	if err != nil || uintptr(p)&uintptr(align-1) == 0 {
		return p, err
	}
	if err := unix.MunmapPtr(p, uintptr(size)); err != nil {
		return nil, err
	}
	if p, err = unix.MmapPtr(-1, 0, nil, uintptr(size+align), prot, flags); err != nil {
		return nil, err
	}
	before := int(-uintptr(p) & uintptr(align-1))
	if before > 0 {
		err = unix.MunmapPtr(p, uintptr(before))
	}
	if behind := align - before; behind > 0 && err == nil {
		err = unix.MunmapPtr(unsafe.Add(p, before+size), uintptr(behind))
	}
	if err != nil { // no mapping is left to cut this one
		_ = unix.MunmapPtr(p, uintptr(size+align))
		return nil, err
	}
	return unsafe.Add(p, before), nil
}

// sentinel returns our error for an error of the system. EAGAIN is the limit of
// locked memory; EINVAL comes from sizes that no address space has.
func sentinel(err error) error {
	if errors.Is(err, unix.ENOMEM) || errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINVAL) {
		return ErrOutOfMemory
	}
	return ErrUnavailable
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
	gone intervals.Set        // of a range: below size, and unmapped
	lent int                  // bytes that Alloc was asked for; 0 for a range
	mem  atomic.Pointer[byte] // nil once unmapped, which also tells a double Free
	lost lostPages
	maps atomic.Int64 // mappings that the region counts for
}

// regionMappings is the count of a region: a range has accessible pages and others.
const regionMappings = 2

func (r *mmapRegion) takeMappings(n int64) error {
	err := mappings.take(n)
	if err == nil {
		r.maps.Add(n)
	}
	return err
}

func (r *mmapRegion) giveMappings() { mappings.give(r.maps.Swap(0)) }

func (r *mmapRegion) Size() int { return int(r.size.Load()) }

func (r *mmapRegion) Bytes() []byte {
	p := r.mem.Load()
	if p == nil {
		return nil
	}
	return unsafe.Slice(p, r.Size())
}

// release gives the pages of m[lo:hi] back, by MADV_DONTNEED. MADV_FREE would not lower
// the resident set until memory is short. EINVAL says that the pages are locked, as all
// pages are after mlockall(2).
func release(m []byte, lo, hi int) error {
	if lo >= hi {
		return nil
	}
	err := unix.Madvise(m[lo:hi], unix.MADV_DONTNEED)
	if errors.Is(err, unix.EINVAL) {
		err = dropLocked(m[lo:hi])
	}
	if err != nil {
		return fmt.Errorf("device: madvise of %d bytes at %d: %v: %w", hi-lo, lo, err, sentinel(err))
	}
	return nil
}

// unmap reports false if the region was unmapped before. It cannot fail otherwise:
// where the system has merged mappings and has no room to split them, the pages go
// back and the addresses stay taken.
func (r *mmapRegion) unmap() bool {
	p := r.mem.Swap(nil)
	if p == nil {
		return false
	}
	r.lost.unmapped()
	m := unsafe.Slice(p, r.Size())
	for _, x := range r.mapped() {
		if err := unix.MunmapPtr(unsafe.Pointer(&m[x.Lo]), uintptr(x.Hi-x.Lo)); err != nil {
			_ = release(m, x.Lo, x.Hi)
		}
	}
	r.giveMappings()
	return true
}

// mapped returns the parts of the region that are mapped.
func (r *mmapRegion) mapped() intervals.Set {
	s := intervals.Set{{Hi: r.Size()}}
	for _, x := range r.gone {
		s.Remove(x.Lo, x.Hi)
	}
	return s
}
