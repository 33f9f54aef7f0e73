//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris

package device

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/device/internal/base"
	"github.com/bufslab/bufslab/internal/intervals"
)

// mmap is memory outside the Go heap: the collector neither scans nor counts
// it. Regions are whole pages and page-aligned. What Free takes back is unmapped, so a
// view that outlives its block faults. Small blocks cost a page and a system
// call each; a strategy that carves them is meant to stand in front.
type mmap struct {
	hostMemory
	fixed bool // told not to extend
	page  int
}

func openMmap(rest string) (Device, error) {
	if rest != "" && rest != "fixed" {
		return nil, badRest("mmap", rest, "fixed")
	}
	name := strings.TrimSuffix("mmap:"+rest, ":")
	return &mmap{hostMemory{base.Named("device", name)}, rest == "fixed", os.Getpagesize()}, nil
}

func (d *mmap) Alloc(size int) (Block, error) {
	if err := d.CheckAlloc(size); err != nil || size == 0 {
		return Block{}, err
	}
	if size > addressable {
		return Block{}, d.AllocError(size, ErrOutOfMemory)
	}
	r, err := d.mapped(roundUp(size, d.page), unix.PROT_READ|unix.PROT_WRITE, 0)
	if err != nil {
		return Block{}, err
	}
	r.lent = size
	return Block{Region: r, Len: size}, nil
}

// mapped makes a region of size bytes, a multiple of the page. It does not go
// through unix.Mmap, which keeps a map of all mappings behind one lock.
func (d *mmap) mapped(size, prot, flags int) (*mmapRegion, error) {
	flags |= unix.MAP_ANON | unix.MAP_PRIVATE
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(size), prot, flags)
	if err != nil {
		return nil, fmt.Errorf("device: mmap of %d bytes: %v: %w", size, err, sentinel(err))
	}
	r := &mmapRegion{dev: d}
	r.size.Store(int64(size))
	r.mem.Store((*byte)(p))
	return r, nil
}

// sentinel says which of our errors an error of the system is. EAGAIN is the
// limit of locked memory; EINVAL comes from sizes that no address space has.
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
	lent int                  // what Alloc was asked for; 0 for a range
	mem  atomic.Pointer[byte] // nil once unmapped, which also tells a double Free
	lost lostPages
}

func (r *mmapRegion) Size() int { return int(r.size.Load()) }

func (r *mmapRegion) Bytes() []byte {
	p := r.mem.Load()
	if p == nil {
		return nil
	}
	return unsafe.Slice(p, r.Size())
}

// release gives the pages of m[lo:hi] back. MADV_DONTNEED and not MADV_FREE:
// the latter does not lower the resident set until the system is short. EINVAL says
// that the pages are locked, as all are after mlockall(2).
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

// unmap reports false when there is nothing to unmap any more. It cannot fail
// otherwise: where the system has merged mappings and runs out of room to
// split them, the pages go back and the addresses stay taken.
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
	return true
}

// mapped returns what of the region is mapped.
func (r *mmapRegion) mapped() intervals.Set {
	s := intervals.Set{{Hi: r.Size()}}
	for _, x := range r.gone {
		s.Remove(x.Lo, x.Hi)
	}
	return s
}
