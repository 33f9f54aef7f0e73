package upstream

import (
	"fmt"

	"github.com/bufslab/bufslab/device"
)

// Reserve passes on to the source, if it has ranges.
func (u *Upstream) Reserve(size int) (device.Range, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	r, is := u.source.(device.Reserver)
	if !is {
		return nil, fmt.Errorf("fuzz: upstream cannot extend regions: %w", device.ErrUnavailable)
	}
	u.calls++
	if err := u.strike(); err != nil {
		return nil, err
	}
	g, err := r.Reserve(size)
	if err != nil {
		return nil, u.refusal(err)
	}
	w := &watchedRange{Range: g, up: u, pages: map[int]bool{}}
	u.ranges[g.Region()] = w
	return w, nil
}

// A watchedRange knows which of its pages are committed. Of a reserved range
// few are, so it keeps those that are and not a mark for each.
type watchedRange struct {
	device.Range
	up    *Upstream
	pages map[int]bool
}

// Commit refuses what is committed already: a device would not mind, but no
// strategy could say how many bytes it has then.
func (g *watchedRange) Commit(off, n int) error {
	g.up.mu.Lock()
	defer g.up.mu.Unlock()
	g.demand(off, n, false, "Commit")
	g.up.calls++
	if err := g.up.strike(); err != nil {
		return err
	}
	if err := g.up.room(n); err != nil {
		return err
	}
	if err := g.Range.Commit(off, n); err != nil {
		return g.up.refusal(err)
	}
	g.mark(off, n, true)
	g.up.count(int64(n))
	return nil
}

// Decommit refuses what is not committed.
func (g *watchedRange) Decommit(off, n int) error {
	g.up.mu.Lock()
	defer g.up.mu.Unlock()
	g.demand(off, n, true, "Decommit")
	if err := g.Range.Decommit(off, n); err != nil {
		return err
	}
	g.mark(off, n, false)
	g.up.count(-int64(n))
	return nil
}

// Close gives back what is committed still.
func (g *watchedRange) Close() error {
	g.up.mu.Lock()
	defer g.up.mu.Unlock()
	g.demand(0, 0, true, "Close")
	if err := g.Range.Close(); err != nil {
		return err
	}
	delete(g.up.ranges, g.Region())
	g.up.count(-int64(len(g.pages)) * int64(g.Page()))
	return nil
}

// demand panics unless n bytes from off are whole pages of an open range, all
// of them committed or none.
func (g *watchedRange) demand(off, n int, committed bool, call string) {
	page, size := g.Page(), g.Region().Size()
	fault := ""
	switch {
	case g.up.ranges[g.Region()] != g:
		fault = "is closed"
	case off < 0 || n < 0 || off > size-n:
		fault = fmt.Sprintf("has %d bytes", size)
	case off%page != 0 || n%page != 0:
		fault = fmt.Sprintf("has pages of %d bytes", page)
	}
	for o := off; fault == "" && o < off+n; o += page {
		if g.pages[o/page] != committed {
			fault = fmt.Sprintf("has page %d committed: %v", o/page, !committed)
		}
	}
	if fault != "" {
		panic(fmt.Sprintf("fuzz: %s of %d bytes at offset %d of a range that %s", call, n, off, fault))
	}
}

func (g *watchedRange) mark(off, n int, committed bool) {
	for p := off / g.Page(); p < (off+n)/g.Page(); p++ {
		if committed {
			g.pages[p] = true
		} else {
			delete(g.pages, p)
		}
	}
}

// holds reports whether all pages of n bytes from off are committed.
func (g *watchedRange) holds(off, n int) bool {
	for o := off &^ (g.Page() - 1); o < off+n; o += g.Page() {
		if !g.pages[o/g.Page()] {
			return false
		}
	}
	return off >= 0
}
