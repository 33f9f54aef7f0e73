//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"

	"gorgonia.org/cu"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/base"
)

// virtualMemorySupported is an attribute that package cu is too old to name.
const virtualMemorySupported cu.DeviceAttribute = 102

// Reserve makes m a device.Reserver. Pages are those of the driver, 2 MiB as a
// rule, and each has memory of its own behind it, because the driver takes
// back only as much as it gave at a time. Where the driver
// refuses it asks for half as many addresses.
func (m *memory) Reserve(size int) (device.Range, error) {
	if err := m.checkAlloc(min(size, most)); err != nil {
		return nil, err
	}
	if _, is := m.source.(plain); !is || !m.can(virtualMemorySupported) {
		return nil, fmt.Errorf("cuda: Reserve on %s: %w", m.Name(), device.ErrUnavailable)
	}
	g := &addressRange{r: &region{owner: m}}
	err := m.do(func() (err error) {
		if g.page, err = granularity(m.ordinal); err != nil {
			return err
		}
		g.r.size = min(size, most) &^ (g.page - 1)
		if g.r.size == 0 {
			return device.ErrSize
		}
		g.r.addr, g.r.size, err = reserve(g.r.size, g.page)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cuda: Reserve of %d bytes on %s in pages of %d: %w", size, m.Name(), g.page, err)
	}
	return g, nil
}

// reserve takes as many addresses as there are, a page at least.
func reserve(size, page int) (cu.DevicePtr, int, error) {
	for {
		p, err := addressReserve(size)
		if err == nil || size == page {
			return p, size, err
		}
		size = max(size/2&^(page-1), page)
	}
}

// An addressRange knows which of its pages have memory. committed ends with
// the last that ever had: most of a range is never used.
type addressRange struct {
	r         *region
	page      int
	committed []bool
}

func (g *addressRange) Region() device.Region { return g.r }
func (g *addressRange) Page() int             { return g.page }

// check returns the pages of n bytes from off.
func (g *addressRange) check(off, n int) (first, end int, err error) {
	if g.r.gone.Load() {
		return 0, 0, g.errClosed()
	}
	err = base.CheckSpan("cuda", off, n, g.r.size, g.page)
	return off / g.page, (off + n) / g.page, err
}

func (g *addressRange) errClosed() error {
	return fmt.Errorf("cuda: range of %d bytes: %w", g.r.size, device.ErrClosed)
}

func (g *addressRange) at(page int) cu.DevicePtr { return g.r.addr + cu.DevicePtr(page*g.page) }

// Commit takes back what it committed when it cannot commit all.
func (g *addressRange) Commit(off, n int) error {
	if err := g.r.owner.Usable(); err != nil {
		return err
	}
	first, end, err := g.check(off, n)
	if err != nil || n == 0 {
		return err
	}
	if more := end - len(g.committed); more > 0 {
		g.committed = append(g.committed, make([]bool, more)...)
	}
	var fresh []int
	err = g.r.owner.do(func() error {
		for i := first; i < end; i++ {
			if g.committed[i] {
				continue
			}
			if err := commit(g.at(i), g.page, g.r.owner.ordinal); err != nil {
				return err
			}
			g.committed[i] = true
			fresh = append(fresh, i)
		}
		return nil
	})
	if err != nil {
		for _, i := range fresh {
			_ = g.decommit(i, i+1)
		}
		return fmt.Errorf("cuda: commit of %d bytes at %d on %s: %w", n, off, g.r.owner.Name(), err)
	}
	return nil
}

// Decommit commits again what it took back when it cannot take back all.
func (g *addressRange) Decommit(off, n int) error {
	first, end, err := g.check(off, n)
	if err != nil {
		return err
	}
	if err := g.decommit(first, end); err != nil {
		return errors.Join(err, g.Commit(off, n))
	}
	return nil
}

// decommit goes on after an error: what can be had back is had.
func (g *addressRange) decommit(first, end int) (failed error) {
	err := g.r.owner.do(func() error {
		for i := first; i < min(end, len(g.committed)); i++ {
			if !g.committed[i] {
				continue
			}
			if err := unmap(g.at(i), g.page); err != nil {
				failed = err
				continue
			}
			g.committed[i] = false
		}
		return failed
	})
	if err != nil {
		return fmt.Errorf("cuda: decommit on %s: %w", g.r.owner.Name(), err)
	}
	return nil
}

func (g *addressRange) Close() error {
	if g.r.gone.Swap(true) {
		return g.errClosed()
	}
	if err := g.decommit(0, len(g.committed)); err != nil {
		return err
	}
	return g.r.owner.do(func() error { return addressFree(g.r.addr, g.r.size) })
}
