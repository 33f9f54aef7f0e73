package budget

import "testing"

// A nest is a budget around another, which was promised bytes, beside a third that has promised nothing.
type nest struct {
	inner, outer, third *Budget
	on                  []*Budget // of a call that all three may refuse
	bytes, used         int64
	pool                *pool
}

func newNest() *nest {
	n := &nest{outer: new(Budget), third: new(Budget), pool: new(pool)}
	n.inner = &Budget{Around: n.outer, Promise: func() (int64, int64) { return n.bytes, n.used }}
	n.on = []*Budget{n.inner, n.outer, n.third}
	n.inner.Share(n.pool)
	n.inner.Share(new(counting)) // which is no pool
	return n
}

// name names what Ahead returned.
func (n *nest) name(b *Budget) string {
	switch b {
	case n.inner:
		return "inner"
	case n.outer:
		return "outer"
	case n.third:
		return "third"
	}
	return "none"
}

// A call is behind those that began before it, but for those around a promise that can serve it; these are ahead only if
// the same promise may serve them.
func TestWhoIsAhead(t *testing.T) {
	for _, c := range []struct {
		waits, below      string // where a call waits, and whether that has the promise
		bytes, used, free int64
		n                 int64
		want              string
	}{
		{"none", "", 0, 0, 0, 10, "none"},
		{"inner", "", 100, 0, 0, 10, "inner"},
		{"outer", "", 0, 0, 0, 10, "outer"},
		{"third", "", 0, 0, 0, 10, "third"},
		{"outer", "", 100, 90, 0, 10, "none"},
		{"outer", "below", 100, 90, 0, 10, "outer"},
		{"outer", "", 100, 91, 0, 10, "outer"},
		{"outer", "", 100, 91, 1, 10, "none"}, // what the pool has free it may hand out
		{"outer", "", 100, 92, 1, 10, "outer"},
		{"outer", "", 10, 10, 10, 10, "none"},
		{"outer", "", 10, 0, 0, 10, "none"},
		{"outer", "", 10, 1, 0, 10, "outer"},
		{"outer", "", 9, 0, 0, 10, "outer"},
		{"outer", "", 9, 0, 100, 10, "outer"},
		{"third", "", 100, 0, 0, 10, "third"}, // which has promised nothing
		{"third", "below", 100, 0, 0, 10, "third"},
	} {
		n := newNest()
		n.bytes, n.used, n.pool.free = c.bytes, c.used, c.free
		at := map[string]*Budget{"inner": n.inner, "outer": n.outer, "third": n.third}[c.waits]
		turn := int64(Latest)
		if at != nil {
			w := NewWaiter([]*Budget{at})
			if c.below != "" {
				w = NewWaiter(n.on)
			}
			at.Join(w)
			if b := Ahead(n.on, w.Turn(), c.n); b != nil {
				t.Errorf("%+v: %s is ahead of one that began before", c, n.name(b))
			}
		}
		if b := Ahead(n.on, turn, c.n); n.name(b) != c.want {
			t.Errorf("%+v: %s is ahead", c, n.name(b))
		}
	}
}

// Of a budget that is alone those that wait there are ahead.
func TestWhoIsAheadInOneBudget(t *testing.T) {
	b := new(Budget)
	on := []*Budget{b}
	w := NewWaiter(on)
	if Ahead(on, Latest, 1) != nil {
		t.Error("someone is ahead where none waits")
	}
	if b.Join(w); Ahead(on, Latest, 1) != b || Ahead(on, w.Turn(), 1) != nil {
		t.Error("one that waits is not ahead, or ahead of itself")
	}
}

// A call that waits around a promise by itself is woken as another leaves it.
func TestOneThatWaitsAroundIsWoken(t *testing.T) {
	n := newNest()
	below, here := NewWaiter(n.on), NewWaiter(n.on)
	n.outer.Join(below)
	n.inner.Join(here)
	if n.inner.Leave(here); !woken(below) {
		t.Error("it is not woken")
	}
	if n.outer.Wake(); !woken(below) {
		t.Error("it is not woken where it leads")
	}
}

// What comes back to a budget wakes the call that leads there, those that lead around it, and those that wait there for
// what it was promised, and no other.
func TestWhoIsWokenAround(t *testing.T) {
	for what, wake := range map[string]func(n *nest){
		"Wake of a budget": func(n *nest) { n.inner.Wake() },
		"Wake of a pool":   func(n *nest) { Wake(n.on) },
		"Leave":            nil,
	} {
		n := newNest()
		leads, other, below, next, here, behind := NewWaiter([]*Budget{n.outer}), NewWaiter([]*Budget{n.outer}), NewWaiter(n.on),
			NewWaiter(n.on), NewWaiter(n.on), NewWaiter(n.on)
		for _, w := range []*Waiter{leads, other, below, next} {
			n.outer.Join(w)
		}
		n.inner.Join(here)
		n.inner.Join(behind)
		if wake == nil {
			n.inner.Leave(here)
			if woken(leads) || !woken(below) || !woken(behind) || woken(other) || woken(next) {
				t.Errorf("%s: not the next and the one below", what)
			}
			continue
		}
		wake(n)
		if !woken(leads) || woken(other) || !woken(below) || woken(next) || !woken(here) || woken(behind) {
			t.Errorf("%s: not those that lead, and the one below", what)
		}
	}
}

// What keepers have is offered to all calls, which then look whatever Room says; only those that lead are woken.
func TestOffer(t *testing.T) {
	b := new(Budget)
	on := []*Budget{b}
	first, second := NewWaiter(on), NewWaiter(on)
	b.Join(first)
	b.Join(second)
	Wake(on)
	if !woken(first) || first.Looks() {
		t.Error("one that was woken has to look for what no Room counts")
	}
	Offer(on)
	if !woken(first) || woken(second) || !first.Looks() || first.Looks() || !second.Looks() {
		t.Error("not all look, once, or not the first is woken")
	}
}

// A call that moves keeps its turn and its tokens, and has to look.
func TestMove(t *testing.T) {
	a, b := new(Budget), new(Budget)
	on := []*Budget{a, b}
	w, later := NewWaiter(on), NewWaiter(on)
	a.Join(w)
	b.Join(later)
	moved := b.moved.Load()
	next := a.Move(w, b)
	if a.Queue.Len() != 0 || b.Queue.first != next || next.Turn() != w.Turn() || !next.Looks() || b.moved.Load() == moved {
		t.Errorf("%d wait where it was; turn %d, not %d", a.Queue.Len(), next.Turn(), w.Turn())
	}
	if b.Queue.Wake(); !woken(w) {
		t.Error("the call is not woken where it waits now")
	}
	first := NewFirst(b)
	if b.Join(first); b.Queue.first != first || Ahead(on, w.Turn(), 1) != b {
		t.Error("a call is before the first")
	}
}
