package floor

import "sync"

// A Growth notices a floor that rises without end. What a program fills once, and what goes up and down, does not
// count: since the floor last stood still it has to become some times as high, in many rows, and to rise in the later
// half of them, too, and in the last one. The zero Growth is ready.
type Growth struct {
	mu   sync.Mutex // leaf
	row  floor
	open bool  // there was a row
	base int64 // the floor where it last stood still
	rows int   // since it rises
	half int64 // the floor when rows was a power of two last
	last int64 // the floor of the row before
	peak int64 // the highest since it rises
}

const (
	times    = 4       // as high
	manyRows = 32      // a power of two
	leastOut = 1 << 20 // bytes
)

// Collected hears of a collection, after which out bytes are active. Where the floor has risen for long it returns
// that, what it was, and how many collections ago, and begins anew.
func (g *Growth) Collected(out int64) (least, was int64, collections int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	least, ended := g.row.collected(out)
	if !ended {
		return 0, 0, 0
	}
	last := g.last
	g.last = least
	g.ended(least)
	if g.rows < manyRows || least < max(leastOut, times*g.base) || !g.isPart(least-last, g.rows) {
		return 0, 0, 0
	}
	was, collections = g.base, g.rows*perRow
	g.begin(least)
	return least, was, collections
}

// ended takes the floor of a row, and counts the row if that is higher than where it last stood still.
func (g *Growth) ended(least int64) {
	if !g.open || least < g.peak/2 || least <= g.base+g.base/8 {
		g.begin(least)
		return
	}
	g.rows++
	g.peak = max(g.peak, least)
	if g.rows&(g.rows-1) != 0 {
		return
	}
	if g.rows >= manyRows && !g.isPart(least-g.half, 1) {
		g.begin(least)
		return
	}
	g.half = least
}

// isPart reports whether a rise is an eighth, at least, of what the floor has risen by in all, divided by rows.
func (g *Growth) isPart(rise int64, rows int) bool {
	return rise > 0 && rise >= (g.peak-g.base)/8/int64(rows)
}

// begin has the floor stand still. One that has risen a little keeps its base, or what rises slowly would never be
// seen.
func (g *Growth) begin(least int64) {
	if least > g.base && least <= g.base+g.base/8 {
		least = g.base
	}
	g.open, g.base, g.rows, g.half, g.peak = true, least, 0, least, least
}
