package growpool

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/bufslab/bufslab/internal/invariants"
)

// ways leads to each state.
var ways = [states][]event{
	unwanted: {evict}, kept: {keep}, shown: {keep, show}, aside: {keep, show, detach},
	replaced: {keep, show, detach, replace}, dropped: {keep, evict}, droppedShown: {keep, show, evict},
	leaseOnly: {lend}, viewOnly: {show}, gone: {drop},
}

// possible has the states in which an event can happen, but evict, which always can.
var possible = [events][]state{
	keep:    {made, unwanted, aside},
	lend:    {made, unwanted},
	show:    {made, unwanted, kept, shown, dropped, droppedShown},
	detach:  {kept, shown, dropped, droppedShown, gone},
	replace: {aside},
	drop:    {made, unwanted, aside, replaced, dropped, droppedShown, leaseOnly, viewOnly},
}

// What the states mean.
var (
	seen    = [states]bool{shown: true, aside: true, replaced: true, droppedShown: true, viewOnly: true}
	counted = [states]bool{kept: true, shown: true, dropped: true, droppedShown: true, leaseOnly: true}
	linked  = [states]bool{kept: true, shown: true}
	lost    = [states]bool{replaced: true, dropped: true, droppedShown: true, gone: true} // by its key
)

// Each cell fits what the states mean, and after it a buffer's bytes and memory
// go once, whatever the cache says and however often.
func TestEveryCell(t *testing.T) {
	for s := made; s < states; s++ {
		for ev := range event(events) {
			// A slab.Pool of its own: what another cell left to the collector comes back at any time.
			below := openSlab(t, "device=heap,strategy=direct")
			p := New[int](below, Config{})
			b := newBuffer(100, p.budget, newEntry(1, 1))
			if err := b.fill(below.Get); err != nil {
				t.Fatal(err)
			}
			for _, ev := range ways[s] {
				p.happen(b, ev)
			}
			if b.state() != s {
				t.Fatalf("state %v, want %v", b.state(), s)
			}
			if l, do := lifeOf(s, 2).on(drop); l != lifeOf(s, 1) || do != 0 {
				t.Errorf("state %v: a reference that is not the last becomes %v, %d", s, l, do)
			}
			if (View[byte]{of: b}).Valid() == lost[s] {
				t.Errorf("state %v: a View is valid: %t", s, lost[s])
			}
			if c := transitions[s][ev]; ev != evict && !slices.Contains(possible[ev], s) {
				want := fmt.Sprintf("growpool: %v of a buffer that is %v", ev, s)
				if text := recovered(func() { lifeOf(s, 1).on(ev) }); c != (cell{}) || text != want {
					t.Errorf("state %v, event %v: %+v, panic %q", s, ev, c, text)
				}
			} else if !cellFits(s, ev, c) {
				t.Errorf("state %v, event %v: %+v", s, ev, c)
			} else if ev != drop {
				p.happen(b, ev)
			}
			endsOnce(t, p, b, seen[s] || ev == show && slices.Contains(possible[show], s))
			runtime.KeepAlive(b) // or its memory might come back before endsOnce counts
		}
	}
}

func cellFits(s state, ev event, c cell) bool {
	return (c.do&refund != 0) == (counted[s] && !counted[c.next]) &&
		(c.do&unlink != 0) == (linked[s] && !linked[c.next] || s == unwanted && ev == keep) &&
		(c.do&giveBack != 0) == (ev == drop && !seen[s]) && (c.do&leave != 0) == (ev == drop && seen[s]) &&
		(c.next == gone || seen[c.next] == (seen[s] || ev == show)) &&
		(ev != evict && ev != detach || linked[s] || s == made || c.next == s) && (ev != evict || !linked[c.next])
}

// happen is apply by a maker who has reserved the bytes of what is to be counted.
func (p *Pool[K]) happen(b *buffer, ev event) {
	if ev == lend || ev == keep {
		p.budget.reserve(b.size)
		p.budget.had(b.size)
	}
	b.apply(ev)
}

// endsOnce ends all references to a buffer, with evictions in between.
func endsOnce(t *testing.T, p *Pool[int], b *buffer, shown bool) {
	was, active := b.state(), p.slab.Stats().ActiveBlocks
	left := p.budget.left.since.Load()
	over := b.now().refs() == 0
	for i := 0; i < 2 && b.now().refs() > 0; i++ { // its maker's and its key's
		b.apply(evict)
		b.drop()
	}
	b.apply(evict)
	active -= p.slab.Stats().ActiveBlocks
	left = p.budget.left.since.Load() - left
	if held, _ := p.budget.usage(); held != 0 || b.hold() || !over && (shown != (active == 0) || shown != (left == 100)) {
		t.Errorf("state %d: %d bytes counted, %d blocks went back, %d bytes left to the collector", was, held, active, left)
	}
	if text := recovered(func() { View[byte]{of: b}.Slice() }); (text != "") != (invariants.Enabled && b.state() == replaced) {
		t.Errorf("state %d: panic %q", was, text)
	}
}
