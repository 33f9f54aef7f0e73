//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris || windows

package device

import (
	"fmt"

	"github.com/bufslab/bufslab/device/internal/base"
)

// Reserve takes addresses, which cost no memory. A range gets at most a sixteenth of
// RLIMIT_AS, and 1/4096 of the address space. Where that is less than asked and less than
// 64 MiB, there are no ranges. All ranges of the process together get at most a quarter of
// RLIMIT_AS, and of the address space.
//
// How a range commits is in mmap_lazy.go and mmap_windows.go.
func (d *mmap) Reserve(size int) (Range, error) {
	size, err := reservable(d.Device, d.fixed, size, d.rangePage)
	if err != nil {
		return nil, err
	}
	if size, err = takeAddresses(size, d.rangePage); err != nil {
		return nil, err
	}
	r, err := d.mapped(size, hugePage, unusable)
	if err != nil {
		giveAddresses(size)
		return nil, err
	}
	return d.asRange(r), nil
}

func (g *mmapRange) Region() Region { return g.r }
func (g *mmapRange) Page() int      { return g.r.dev.rangePage }

func (g *mmapRange) check(off, n int) ([]byte, error) {
	m := g.r.Bytes()
	if m == nil {
		return nil, g.r.errClosed()
	}
	return m, base.CheckSpan("device", off, n, len(m), g.r.dev.rangePage)
}

// toCommit is check for Commit, which a closed device refuses.
func (g *mmapRange) toCommit(off, n int) ([]byte, error) {
	if err := g.r.dev.Usable(); err != nil {
		return nil, err
	}
	return g.check(off, n)
}

func (g *mmapRange) Close() error {
	n := g.r.addresses()
	if !g.r.unmap() {
		return g.r.errClosed()
	}
	giveAddresses(n)
	return nil
}

func (r *mmapRegion) errClosed() error {
	return fmt.Errorf("device: range of %d bytes: %w", r.Size(), ErrClosed)
}
