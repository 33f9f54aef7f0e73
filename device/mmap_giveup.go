//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris

package device

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/device/internal/base"
)

// GiveUp unmaps addresses. Blocks of Alloc keep theirs.
func (r *mmapRegion) GiveUp(off, n int) error {
	m := r.Bytes()
	if m == nil {
		return r.errClosed()
	}
	if r.lent > 0 || n == len(m) || r.gone.Overlap(off, off+n) > 0 {
		return fmt.Errorf("device: region of %d bytes, %d at %d given up: %w", len(m), n, off, ErrSize)
	}
	if err := base.CheckSpan("device", off, n, len(m), r.dev.rangePage); err != nil || n == 0 {
		return err
	}
	if err := r.takeMappings(1); err != nil {
		return err
	}
	if err := unix.MunmapPtr(unsafe.Pointer(&m[off]), uintptr(n)); err != nil {
		return fmt.Errorf("device: region of %d bytes, %d at %d given up: %v: %w", len(m), n, off, err, sentinel(err))
	}
	if off+n == len(m) {
		r.size.Store(int64(off))
	} else {
		r.gone.Add(off, off+n)
	}
	giveAddresses(n)
	return nil
}

// addresses returns the number of addresses that the region has not given up.
func (r *mmapRegion) addresses() int { return r.Size() - r.gone.Overlap(0, r.Size()) }
