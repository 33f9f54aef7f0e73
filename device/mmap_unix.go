//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris

package device

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/internal/intervals"
)

// A mapping is what a region remembers on these systems.
type mapping struct {
	gone intervals.Set // of a range: below size, and unmapped
	lost lostPages
	maps atomic.Int64 // mappings that the region counts for
}

// tryPages fails where the system cannot be told which pages to use.
func (d *mmap) tryPages() error {
	if d.pages == "" {
		return nil
	}
	r, err := d.mapped(d.page, 0, unusable)
	if err != nil {
		return err
	}
	defer r.unmap()
	if err := advise(r.Bytes(), d.pages); err != nil {
		return fmt.Errorf("%v: %w", err, ErrUnavailable)
	}
	return nil
}

// mapped makes a region of size bytes at a multiple of align. It does not go
// through unix.Mmap, which keeps a map of all mappings behind one lock.
func (d *mmap) mapped(size, align int, use bool) (*mmapRegion, error) {
	prot, flags := unix.PROT_NONE, mapNoReserve
	if use {
		prot, flags = unix.PROT_READ|unix.PROT_WRITE, 0
	}
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
	if err == nil {
		err = unix.MunmapPtr(unsafe.Add(p, before+size), uintptr(align-before))
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

// free unmaps the memory m of a region. Where the system has merged mappings and has no room
// to split them, the pages go back and the addresses stay taken.
func (r *mmapRegion) free(m []byte) {
	r.lost.unmapped()
	for _, x := range r.mapped() {
		if err := unix.MunmapPtr(unsafe.Pointer(&m[x.Lo]), uintptr(x.Hi-x.Lo)); err != nil {
			_ = release(m, x.Lo, x.Hi)
		}
	}
	r.giveMappings()
}

// mapped returns the parts of the region that are mapped.
func (r *mmapRegion) mapped() intervals.Set {
	s := intervals.Set{{Hi: r.Size()}}
	for _, x := range r.gone {
		s.Remove(x.Lo, x.Hi)
	}
	return s
}
