//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris

package device

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/device/internal/base"
)

// leastRange is where Reserve gives up: a smaller range is not worth having.
const leastRange = 1 << 20

// Reserve takes addresses, which cost no memory. Where the system refuses, as
// under a limit on the address space, it asks for half as many, down to 1 MiB.
func (d *mmap) Reserve(size int) (Range, error) {
	size, err := reservable(d.Device, d.fixed, size, d.page)
	if err != nil {
		return nil, err
	}
	for {
		r, err := d.mapped(size, unix.PROT_NONE, mapNoReserve)
		if err == nil {
			return &mmapRange{r}, nil
		}
		size = size / 2 &^ (d.page - 1)
		if size < leastRange {
			return nil, err
		}
	}
}

// An mmapRange extends a mapping by making its pages accessible.
type mmapRange struct{ r *mmapRegion }

func (g *mmapRange) Region() Region { return g.r }
func (g *mmapRange) Page() int      { return g.r.dev.page }

// Commit of what is committed already changes nothing.
func (g *mmapRange) Commit(off, n int) error {
	if err := g.r.dev.Usable(); err != nil {
		return err
	}
	m, err := g.check(off, n)
	if err != nil || n == 0 {
		return err
	}
	if err := unix.Mprotect(m[off:off+n], unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return fmt.Errorf("device: commit of %d bytes at %d: %v: %w", n, off, err, sentinel(err))
	}
	return nil
}

// Decommit leaves the pages accessible. Taking that back too would split the
// mapping, of which a process has some 65,000, and buys nothing: untouched
// pages have no memory behind them.
func (g *mmapRange) Decommit(off, n int) error {
	m, err := g.check(off, n)
	if err != nil {
		return err
	}
	return release(m, off, off+n)
}

func (g *mmapRange) check(off, n int) ([]byte, error) {
	m := g.r.Bytes()
	if m == nil {
		return nil, fmt.Errorf("device: range of %d bytes: %w", g.r.size, ErrClosed)
	}
	return m, base.CheckSpan("device", off, n, len(m), g.r.dev.page)
}

func (g *mmapRange) Close() error {
	if !g.r.unmap() {
		return fmt.Errorf("device: range of %d bytes: %w", g.r.size, ErrClosed)
	}
	return nil
}
