package device

import (
	"fmt"

	"github.com/bufslab/bufslab/device/internal/base"
	"github.com/bufslab/bufslab/internal/intervals"
)

// virtualPage is the usual page, so that a trace replays as it would on mmap.
const virtualPage = 4096

// Reserve gives size addresses, at most 64 TiB (1 GiB where an int has 32 bits).
// They do not count against the capacity until they are committed.
func (d *virtual) Reserve(size int) (Range, error) {
	size, err := reservable(d.Device, d.fixed, size, virtualPage)
	if err != nil {
		return nil, err
	}
	r := &virtualRegion{dev: d, size: size}
	r.gone.Store(true)
	return &virtualRange{r: r}, nil
}

// A virtualRange remembers its committed bytes, because its device counts bytes exactly.
type virtualRange struct {
	r         *virtualRegion
	committed intervals.Set
	closed    bool
}

func (g *virtualRange) Region() Region { return g.r }
func (g *virtualRange) Page() int      { return virtualPage }

// Commit of committed bytes changes nothing.
func (g *virtualRange) Commit(off, n int) error {
	if err := g.r.dev.Usable(); err != nil {
		return err
	}
	if err := g.check(off, n); err != nil || n == 0 {
		return err
	}
	more := n - g.committed.Overlap(off, off+n)
	if !g.r.dev.room.Take(int64(more)) {
		return g.r.dev.errFull(more)
	}
	g.committed.Add(off, off+n)
	return nil
}

func (g *virtualRange) Decommit(off, n int) error {
	if err := g.check(off, n); err != nil || n == 0 {
		return err
	}
	g.r.dev.room.Give(int64(g.committed.Overlap(off, off+n)))
	g.committed.Remove(off, off+n)
	return nil
}

func (g *virtualRange) check(off, n int) error {
	if g.closed {
		return fmt.Errorf("device: range of %d bytes: %w", g.r.size, ErrClosed)
	}
	return base.CheckSpan("device", off, n, g.r.size, virtualPage)
}

func (g *virtualRange) Close() error {
	if err := g.Decommit(0, g.r.size); err != nil {
		return err
	}
	g.closed = true
	return nil
}
