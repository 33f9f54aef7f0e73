//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris

package device

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// An mmapRange is a mapping that grows by making pages accessible: the first ready bytes, and
// bytes that were committed above them.
type mmapRange struct {
	r     *mmapRegion
	ready int
	top   int // the end of the committed bytes
	found int // if above top, the pages between have memory
}

// asRange makes a range of a region that was just reserved.
func (d *mmap) asRange(r *mmapRegion) Range {
	_ = advise(r.Bytes(), d.pages) // openMmap has seen that it can
	return &mmapRange{r: r}
}

// aheadBytes is the least that a range makes accessible at a time. Later it multiplies the
// accessible bytes.
const (
	aheadBytes = 4 << 20
	aheadTimes = 4
)

// populated is the largest Commit that finds memory at once. The memory is about to be used, and one
// call takes half the time of the page faults. Of a larger Commit the program may use only a part.
const populated = 1 << 20

// Ready returns the end of the accessible bytes from 0.
func (g *mmapRange) Ready() int { return g.ready }

// Commit makes the pages accessible, and finds memory for a few; at the top up to foundAhead bytes
// behind them get memory, too.
func (g *mmapRange) Commit(off, n int) error {
	m, err := g.toCommit(off, n)
	if err != nil || n == 0 {
		return err
	}
	if err := g.open(m, off, off+n); err != nil {
		return err
	}
	g.find(m, off, off+n)
	return nil
}

// foundAhead is the number of bytes that get memory in a small Commit at the top. The next Commits then
// need no call: a range of small blocks grows by a page at a time.
const foundAhead = 64 << 10

// find finds memory for m[lo:hi], which is committed and accessible, unless it is large.
func (g *mmapRange) find(m []byte, lo, hi int) {
	end, few := hi, hi-lo <= populated
	if few && lo == g.top {
		lo, end = max(lo, g.found), g.unlessGone(hi, min(roundUp(hi, foundAhead), g.ready, len(m)))
	}
	if few && lo < hi {
		populate(m[lo:end])
		g.found = max(g.found, end)
	}
	g.top = max(g.top, hi)
}

// open makes m[lo:hi] accessible.
func (g *mmapRange) open(m []byte, lo, hi int) error {
	switch {
	case hi <= g.ready:
		return nil
	case lo <= g.ready:
		return g.extend(m, hi)
	}
	if err := g.r.takeMappings(2); err != nil { // it splits the inaccessible rest
		return err
	}
	return access(m, lo, hi)
}

// extend makes the bytes up to end accessible, and more if the system allows it.
func (g *mmapRange) extend(m []byte, end int) error {
	ahead := min(max(end, aheadTimes*g.ready, aheadBytes), len(m))
	err := access(m, g.ready, ahead)
	if err != nil && ahead > end {
		ahead = end
		err = access(m, g.ready, ahead)
	}
	if err == nil {
		g.ready = ahead
	}
	return err
}

func access(m []byte, lo, hi int) error {
	if err := unix.Mprotect(m[lo:hi], unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return fmt.Errorf("device: commit of %d bytes at %d: %v: %w", hi-lo, lo, err, sentinel(err))
	}
	return nil
}

// Decommit leaves the pages accessible. To make them inaccessible would split the
// mapping, of which a process has some 65,000, and gains nothing: untouched
// pages have no memory. At the top Decommit gives back memory that was found ahead.
func (g *mmapRange) Decommit(off, n int) error {
	m, err := g.check(off, n)
	if err != nil {
		return err
	}
	if n == 0 || off+n != g.top {
		return release(m, off, off+n)
	}
	if err := release(m, off, g.unlessGone(g.top, min(g.found, len(m)))); err != nil {
		return err
	}
	g.top, g.found = off, off
	return nil
}

// unlessGone returns hi, or lo if hi is not above lo, or addresses between them were given up.
func (g *mmapRange) unlessGone(lo, hi int) int {
	if hi < lo || g.r.gone.Overlap(lo, hi) > 0 {
		return lo
	}
	return hi
}
