package relief

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/bufslab/bufslab/internal/cgroup"
)

// members returns a group without a watcher.
func members(list ...*holder) *group {
	g := &group{members: map[Member]*use{}}
	for _, m := range list {
		g.members[m] = &use{}
	}
	return g
}

// A step halves what is held where that is much and can go back. Else all goes, and what keepers have.
func TestAStepOfLittleTakesAll(t *testing.T) {
	for _, c := range []struct{ held, stuck, left, kept, sum int64 }{
		{held: leastStep, sum: leastStep + 100},
		{held: leastStep + 2, left: leastStep/2 + 1, kept: 100, sum: leastStep/2 + 1},
		{held: 10 * leastStep, left: 5 * leastStep, kept: 100, sum: 5 * leastStep},
		{held: leastGain, stuck: 2 * leastStep, sum: leastGain + 100},
		{held: leastGain + 1, stuck: 2 * leastStep, kept: 100, sum: leastGain + 1},
		{sum: 100},
	} {
		m := &holder{held: c.held, stuck: c.stuck, kept: 100}
		sum := members(m).step("")
		if n := m.now(); n.held != c.left || n.kept != c.kept || sum != c.sum {
			t.Errorf("%d bytes held, %d stuck: %d came back, %d and %d are left, want %+v", c.held, c.stuck, sum, n.held, n.kept, c)
		}
	}
}

// Only members that hold memory are asked for it, no more of them than it takes; all are asked for what keepers have.
func TestWhoIsAsked(t *testing.T) {
	none, a, b := &holder{}, &holder{held: 10}, &holder{held: 10}
	g := members(none, a, b)
	if n := g.ask(10, false, ""); n != 10 || none.asked != 0 || a.asked+b.asked != 1 {
		t.Errorf("%d bytes of %d and %d members", n, a.asked+b.asked, none.asked)
	}
	if n := g.ask(10, true, ""); n != 10 || none.asked != 1 || a.asked+b.asked != 3 {
		t.Errorf("%d bytes of %d and %d members, with keepers", n, a.asked+b.asked, none.asked)
	}
}

// An onHeap is a member whose memory is garbage when it goes back.
type onHeap struct{ *holder }

func (onHeap) OnGoHeap() bool { return true }

// Much garbage of members goes to the system at once, by a collection; memory that is none needs no collection.
func TestGarbageGoesToTheSystem(t *testing.T) {
	for _, c := range []struct {
		m    func(*holder) Member
		held int64
		want uint32
	}{
		{func(h *holder) Member { return onHeap{h} }, leastStep + 1, 1},
		{func(h *holder) Member { return onHeap{h} }, leastStep, 0},
		{func(h *holder) Member { return h }, 10 * leastStep, 0},
	} {
		var before, after runtime.MemStats
		m := c.m(&holder{held: c.held})
		g := &group{members: map[Member]*use{m: {}}}
		runtime.ReadMemStats(&before)
		g.ask(c.held, false, "")
		runtime.ReadMemStats(&after)
		if n := after.NumForcedGC - before.NumForcedGC; n != c.want {
			t.Errorf("%d bytes of a %T: %d collections", c.held, m, n)
		}
	}
}

// The watcher sleeps longer while little is used, and the longer a look took; but never beyond calm, or the time to ask.
func TestHowLongTheWatcherSleeps(t *testing.T) {
	for _, c := range []struct {
		used      float64
		cost, ask time.Duration
		want      time.Duration
	}{
		{0, 0, 0, 750 * time.Millisecond},
		{nearAt, 0, 0, 750 * time.Millisecond},
		{0.6, 0, 0, 100 * time.Millisecond},
		{0.6, 10 * time.Microsecond, 0, 100 * time.Millisecond},
		{0.6, 100 * time.Microsecond, 0, 200 * time.Millisecond}, // 2000 times as long
		{0.6, time.Second, 0, 750 * time.Millisecond},
		{0.6, 0, time.Hour, 100 * time.Millisecond},
		{0, 0, 50 * time.Millisecond, 50 * time.Millisecond},
		{0, 0, -time.Second, 750 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &watcher{sensor: &sensor{used: c.used}, cost: c.cost, until: time.Now().Add(c.ask)}
			if d := w.pause(); d != c.want {
				t.Errorf("%+v: %v", c, d)
			}
		})
	}
}

// After a step that got nothing there is none for a while, unless much more is held than was least since.
func TestWhenItIsWorthAsking(t *testing.T) { synctest.Test(t, testWhenItIsWorthAsking) }

func testWhenItIsWorthAsking(t *testing.T) {
	m := &holder{stuck: 3 * leastStep}
	w := &watcher{group: members(m), sensor: newSensor(cgroup.Of(fstest.MapFS{}))}
	if w.give("") || !time.Now().Before(w.until) {
		t.Errorf("nothing came, and the next time to ask is %v", w.until)
	}
	asked := func(stuck, held int64) bool {
		before := m.asked
		m.stuck, m.held = stuck, held
		if gave := w.give(""); gave != (held > 0 && m.asked > before) {
			t.Errorf("%d and %d bytes: %v", stuck, held, gave)
		}
		return m.asked > before
	}
	if asked(4*leastStep, 0) {
		t.Error("asked as little more is held")
	}
	if asked(leastStep, 0) || asked(2*leastStep, 0) {
		t.Error("asked as little more is held than was least")
	}
	if !asked(2*leastStep+1, 0) {
		t.Error("not asked though much more is held than was least")
	}
	if !asked(0, 6*leastStep) || !w.until.IsZero() {
		t.Errorf("memory came, and the next time to ask is %v", w.until)
	}
}

// Events that another group had counted before the process came to it are no news; those after it are.
func TestAnotherGroup(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	p := newPod(100)
	p.set("memory.events", "max 0\n")
	n := newSensor(cgroup.Of(p))
	p.files["proc/self/cgroup"] = text("0::/b\n")
	p.files["sys/fs/cgroup/b/memory.max"], p.files["sys/fs/cgroup/b/memory.current"] = text("100"), text("0")
	p.files["sys/fs/cgroup/b/memory.events"] = text("max 7\n")
	if why := n.short(); why != "" {
		t.Errorf("short by what was before: %s", why)
	}
	p.files["sys/fs/cgroup/b/memory.events"] = text("max 8\n")
	if why := n.short(); why != "/sys/fs/cgroup/b/memory.events counts 1 more" {
		t.Errorf("%q", why)
	}
	if n.used != 0 {
		t.Errorf("%f of a limit is used", n.used)
	}
}

// The share that is used is that of the limit that is nearest, of those of this look.
func TestTheShareThatIsUsed(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	p := newPod(100)
	n := newSensor(cgroup.Of(p))
	if n.used != 1 {
		t.Errorf("%f before the first look", n.used)
	}
	for current, want := range map[string]float64{"60": 0.6, "20": 0.2} {
		p.set("memory.current", current)
		if n.short(); n.used != want {
			t.Errorf("%s bytes of 100: %f", current, n.used)
		}
	}
}
