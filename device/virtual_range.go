package device

import "fmt"

// virtualPage is the usual page, so that a trace replays as it would on mmap.
const virtualPage = 4096

// Reserve gives as many addresses as asked for, at most 64 TiB (1 GiB where an
// int has 32 bits). They do not count against the capacity until committed.
func (d *virtual) Reserve(size int) (Range, error) {
	if err := d.checkAlloc(size); err != nil {
		return nil, err
	}
	if d.fixed {
		return nil, fmt.Errorf("device: Reserve on %s: %w", d.name, ErrUnavailable)
	}
	size = min(size, addressable) &^ (virtualPage - 1)
	if size == 0 {
		return nil, fmt.Errorf("device: Reserve of less than a page of %d bytes: %w", virtualPage, ErrSize)
	}
	r := &virtualRegion{dev: d, size: size}
	r.gone.Store(true)
	return &virtualRange{r: r}, nil
}

// A virtualRange remembers what is committed, because its device counts bytes exactly.
type virtualRange struct {
	r         *virtualRegion
	committed spans
	closed    bool
}

func (g *virtualRange) Region() Region { return g.r }
func (g *virtualRange) Page() int      { return virtualPage }

// Commit of what is committed already changes nothing.
func (g *virtualRange) Commit(off, n int) error {
	if err := g.r.dev.usable(); err != nil {
		return err
	}
	if err := g.check(off, n); err != nil || n == 0 {
		return err
	}
	more := n - g.committed.overlap(off, off+n)
	if !g.r.dev.room.take(int64(more)) {
		return g.r.dev.errFull(more)
	}
	g.committed.add(off, off+n)
	return nil
}

func (g *virtualRange) Decommit(off, n int) error {
	if err := g.check(off, n); err != nil || n == 0 {
		return err
	}
	g.r.dev.room.give(int64(g.committed.overlap(off, off+n)))
	g.committed.remove(off, off+n)
	return nil
}

func (g *virtualRange) check(off, n int) error {
	if g.closed {
		return fmt.Errorf("device: range of %d bytes: %w", g.r.size, ErrClosed)
	}
	return checkSpan(off, n, g.r.size, virtualPage)
}

func (g *virtualRange) Close() error {
	if err := g.Decommit(0, g.r.size); err != nil {
		return err
	}
	g.closed = true
	return nil
}
