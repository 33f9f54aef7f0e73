package unified

import (
	"math/rand/v2"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// Ranges say the same as a list of states, element by element.
func TestRangesAreAList(t *testing.T) {
	const n = 50
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		ranges, list := newResidency(n), [n]State{}
		for range 100 {
			lo := r.IntN(n + 1)
			hi := lo + r.IntN(n+1-lo)
			c := access(r.IntN(accesses))
			ranges.grant(lo, hi, c)
			for i := lo; i < hi; i++ {
				list[i] = table[list[i]][c].next
			}
			checkRanges(t, &ranges, list[:])
		}
	}
}

func checkRanges(t *testing.T, r *residency, list []State) {
	t.Helper()
	at, last := 0, State(states)
	for s := range r.spans(0, len(list)) {
		if s.lo != at || s.state == last {
			t.Fatalf("range from %d to %d in state %v after one to %d in %v", s.lo, s.hi, s.state, at, last)
		}
		for i := s.lo; i < s.hi; i++ {
			if list[i] != s.state {
				t.Fatalf("element %d is %v, not %v", i, s.state, list[i])
			}
		}
		at, last = s.hi, s.state
	}
	if at != len(list) {
		t.Fatalf("ranges end at %d of %d", at, len(list))
	}
}

// Beyond MaxRanges the shortest gaps go, and nothing that is dirty is lost.
func TestMaxRanges(t *testing.T) {
	const n = 100_000
	r := newResidency(n)
	r.change(0, n, func(State) State { return Synchronized })
	for i := range 200 {
		at := i * 400
		r.grant(at, at+10+i, writeHost) // gaps become shorter
		r.limit(func(lo, hi int) bool { return false })
	}
	if len(r.ranges) > MaxRanges {
		t.Errorf("%d ranges", len(r.ranges))
	}
	if s := r.state(0, 10); s != HostDirty {
		t.Error(s)
	}
	for i := range 200 {
		if s := r.state(i*400, i*400+10+i); s != HostDirty {
			t.Errorf("write %d is %v", i, s)
		}
		for x := range r.spans(i*400, i*400+10+i) {
			if x.state != HostDirty {
				t.Errorf("elements of write %d are %v", i, x.state)
			}
		}
	}
	if s := r.state(10, 20); s != Synchronized {
		t.Errorf("the widest gap is %v", s)
	}
}

// The shortest gap goes wherever it is, the first and the last among them.
func TestTheShortestGapGoes(t *testing.T) {
	const gaps = (MaxRanges + 1) / 2 // between ranges that are dirty, from the first to the last element
	for short := range gaps {
		r := newResidency(10*gaps + 5)
		r.change(0, 10*gaps+5, func(State) State { return Synchronized })
		for i := range gaps + 1 {
			r.grant(10*i, 10*i+5, writeHost)
		}
		r.grant(10*short+5, 10*short+6, writeHost)
		r.limit(func(lo, hi int) bool { return false })
		for i := range gaps {
			want := Synchronized
			if i == short {
				want = HostDirty
			}
			if s := r.state(10*i+6, 10*i+10); s != want {
				t.Fatalf("gap %d of %d is %v, want %v: gap %d is the shortest", i, gaps, s, want, short)
			}
		}
	}
}

// As many ranges as MaxRanges stay apart.
func TestMaxRangesStayApart(t *testing.T) {
	r := newResidency(2 * MaxRanges)
	r.change(0, 2*MaxRanges, func(State) State { return Synchronized })
	for i := 0; len(r.ranges) < MaxRanges; i += 2 {
		r.grant(i, i+1, writeHost)
	}
	if r.limit(func(lo, hi int) bool { return false }); len(r.ranges) != MaxRanges {
		t.Errorf("%d ranges", len(r.ranges))
	}
}

// A buffer whose elements are in two states is in the one that takes more care, wherever that is.
func TestTheStateOfSeveral(t *testing.T) {
	order := []State{Uninitialized, Synchronized, HostOnly, DeviceOnly, HostDirty, DeviceDirty}
	for i, less := range order {
		for _, more := range order[i+1:] {
			for _, pair := range [][2]State{{less, more}, {more, less}} {
				r := residency{ranges: []stretch{{10, pair[0]}, {20, pair[1]}}}
				if s := r.state(0, 20); s != more {
					t.Errorf("%v and %v are %v", pair[0], pair[1], s)
				}
			}
		}
	}
}

// Ranges dirty on different sides are never merged.
func TestOppositeSidesStayApart(t *testing.T) {
	const n = 1000
	r := newResidency(n)
	r.change(0, n, func(State) State { return Synchronized })
	for i := range n / 4 {
		r.grant(4*i, 4*i+1, writeHost)
		r.grant(4*i+2, 4*i+3, writeDevice)
		r.limit(func(lo, hi int) bool { return false })
	}
	for i := range n / 4 {
		if a, b, c := r.state(4*i, 4*i+1), r.state(4*i+2, 4*i+3), r.state(4*i+1, 4*i+2); a != HostDirty || b != DeviceDirty || c != Synchronized {
			t.Fatalf("%v %v %v", a, b, c)
		}
	}
}

// Copies are one where what is between is short and Synchronized.
func TestPlanMergesOverShortGaps(t *testing.T) {
	r := newResidency(100)
	r.change(0, 100, func(State) State { return Synchronized })
	r.grant(0, 10, writeHost)
	r.grant(15, 20, writeHost)
	r.grant(30, 40, writeHost)
	r.grant(42, 43, writeDevice)
	r.grant(45, 50, writeHost)
	steps := check.Ok(r.plan(0, 100, readDevice, 5))(t)
	want := []step{{0, 20, pull}, {30, 40, pull}, {45, 50, pull}}
	check.Same(t, steps, want, "steps")
	steps = check.Ok(r.plan(5, 35, readDevice, 0))(t)
	check.Same(t, steps, []step{{5, 10, pull}, {15, 20, pull}, {30, 35, pull}}, "steps")
}
