package relief

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"runtime/debug"

	"github.com/bufslab/bufslab/internal/cgroup"
	"github.com/bufslab/bufslab/internal/poolset"
)

// A holder is a member that notes what it is asked for.
type holder struct {
	mu      sync.Mutex
	name    string
	calls   int64
	held    int64
	kept    int64 // by keepers
	stuck   int64 // held, and cannot go back
	asked   int
	ages    int
	changes int // of limits
	log     bytes.Buffer
	onGive  func(bytes int64)
	journal *[]string
}

func (h *holder) Calls() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calls
}

func (h *holder) HeldBytes() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held + h.stuck
}

func (h *holder) GiveBack(n int64, keepers bool, why string) int64 {
	h.mu.Lock()
	h.asked++
	if keepers {
		h.held, h.kept, n = h.held+h.kept, 0, math.MaxInt64
	}
	n = min(n, h.held)
	h.held -= n
	if h.journal != nil {
		*h.journal = append(*h.journal, fmt.Sprintf("%s gives %d", h.name, n>>20))
	}
	h.mu.Unlock()
	if h.onGive != nil {
		h.onGive(n)
	}
	return n
}

func (h *holder) LimitChanged() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changes++
}

func (h *holder) Age() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ages++
}

func (h *holder) Log() *slog.Logger { return slog.New(slog.NewTextHandler(&h.log, nil)) }
func (h *holder) OnGoHeap() bool    { return false }

func (h *holder) use() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls++
}

// A pod is a group of version 2 whose files change while they are read.
type pod struct {
	mu    sync.Mutex
	files fstest.MapFS
	looks int
}

const podDir = "sys/fs/cgroup/a/"

func newPod(limit int64) *pod {
	p := &pod{files: fstest.MapFS{"proc/self/cgroup": {Data: []byte("0::/a\n")}}}
	p.set("memory.max", fmt.Sprint(limit))
	p.set("memory.current", "0")
	return p
}

func (p *pod) set(name, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files[podDir+name] = &fstest.MapFile{Data: []byte(text)}
}

func (p *pod) remove(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.files, podDir+name)
}

func (p *pod) Open(name string) (fs.File, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if name == podDir+"memory.current" {
		p.looks++
	}
	return p.files.Open(name)
}

func (p *pod) group() *group {
	return &group{members: map[Member]*use{}, system: func() cgroup.System { return cgroup.Of(p) },
		waiter: func(cgroup.System) waiter { return newClock() }}
}

// A state is what a holder has noted.
type state struct {
	asked, ages int
	held, kept  int64
	changes     int
}

func (h *holder) now() state {
	h.mu.Lock()
	defer h.mu.Unlock()
	return state{h.asked, h.ages, h.held, h.kept, h.changes}
}

// Each step takes half of what is held, from those first that were idle for longest; what is left in the end
// goes at once, with what others keep.
func TestSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var journal []string
		g := newPod(1 << 30).group()
		a := &holder{name: "a", held: 40 << 20, journal: &journal}
		b := &holder{name: "b", held: 24 << 20, kept: 3 << 20, journal: &journal}
		g.join(a)
		pass(time.Second / 4)
		g.join(b)
		pass(time.Millisecond)
		a.use()
		g.looked() // a was in use after b
		for range 8 {
			g.step("")
		}
		want := []string{"b gives 24", "a gives 8", "a gives 16", "a gives 8", "a gives 4", "a gives 2", "a gives 1", "b gives 3", "a gives 1"}
		if got := journal[:min(len(journal), len(want))]; !slices.Equal(got, want) {
			t.Errorf("%q, not %q", got, want)
		}
		if a.now().held != 0 || b.now().held != 0 || b.now().kept != 0 {
			t.Errorf("%d, %d and %d are left", a.now().held, b.now().held, b.now().kept)
		}
		g.leave(a)
		g.leave(b)
		pass(2 * calm)
	})
}

// The watcher gives back until the group uses little enough, and no more.
func TestWatcherGivesUntilThereIsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPod(512 << 20)
		m := &holder{held: 256 << 20}
		used := int64(500 << 20)
		m.onGive = func(n int64) {
			used -= n
			p.set("memory.current", fmt.Sprint(used))
		}
		g := p.group()
		g.join(m)
		pass(10 * calm)
		if m.now().asked != 0 {
			t.Error("something was given back while there was room")
		}
		p.set("memory.current", fmt.Sprint(used))
		pass(2 * calm)
		if m.now().asked != 1 || m.now().held != 128<<20 {
			t.Errorf("%d steps, %d bytes left", m.now().asked, m.now().held)
		}
		g.leave(m)
		pass(2 * calm)
		p.set("memory.current", fmt.Sprint(500<<20))
		pass(10 * calm)
		if m.now().asked != 1 {
			t.Error("a member that has left was asked")
		}
	})
}

// A member that has more whenever it gave some does not keep the watcher from sleeping.
func TestWatcherSleepsBesideAChurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPod(100)
		p.set("memory.current", "100")
		m := &holder{held: 64 << 20}
		m.onGive = func(int64) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.held = 64 << 20
		}
		g := p.group()
		g.join(m)
		pass(time.Second)
		if n := m.now().asked; n < mostSteps || n > 11*mostSteps {
			t.Errorf("%d steps in a second", n)
		}
		g.leave(m)
		pass(2 * calm)
	})
}

// What the files look like, and what the watcher makes of them. None of it is a limit of 0.
func TestShort(t *testing.T) {
	before := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(before)
	for name, c := range map[string]struct {
		change func(p *pod)
		short  string
	}{
		"room":               {func(p *pod) { p.set("memory.current", "50") }, ""},
		"no room":            {func(p *pod) { p.set("memory.current", "95") }, "95 bytes are used of the 100 of /sys/fs/cgroup/a/memory.max"},
		"the page cache":     {func(p *pod) { p.set("memory.current", "95"); p.set("memory.stat", "inactive_file 20\n") }, ""},
		"a lower high":       {func(p *pod) { p.set("memory.current", "50"); p.set("memory.high", "52") }, "memory.high"},
		"an event":           {func(p *pod) { p.set("memory.events", "high 3\nmax 1\n") }, "memory.events counts 2 more"},
		"max":                {func(p *pod) { p.set("memory.max", "max"); p.set("memory.current", "95") }, ""},
		"a limit of 0":       {func(p *pod) { p.set("memory.max", "0"); p.set("memory.current", "95") }, ""},
		"garbage":            {func(p *pod) { p.set("memory.max", "?"); p.set("memory.current", "95") }, ""},
		"huge":               {func(p *pod) { p.set("memory.max", "9223372036854771712"); p.set("memory.current", "95") }, ""},
		"usage is garbage":   {func(p *pod) { p.set("memory.current", "-95") }, ""},
		"usage vanishes":     {func(p *pod) { p.remove("memory.current") }, ""},
		"the limit vanishes": {func(p *pod) { p.remove("memory.max"); p.set("memory.current", "95") }, ""},
		"the group vanishes": {func(p *pod) { p.files = fstest.MapFS{} }, ""},
		"the group around it is": {func(p *pod) {
			p.files["sys/fs/cgroup/memory.max"], p.files["sys/fs/cgroup/memory.current"] = text("10"), text("10")
		}, "10 bytes are used of the 10"},
	} {
		p := newPod(100)
		p.set("memory.events", "high 2\n")
		n := newSensor(cgroup.Of(p))
		if why := n.short(); why != "" {
			t.Errorf("%s: short at the beginning: %s", name, why)
		}
		c.change(p)
		if why := n.short(); !strings.Contains(why, c.short) || (why == "") != (c.short == "") {
			t.Errorf("%s: %q", name, why)
		}
		if why := n.short(); !strings.Contains(why, c.short) {
			t.Errorf("%s, before an answer: %q", name, why)
		}
		n.answer()
		if why := n.short(); name == "an event" && why != "" {
			t.Errorf("%s, after it: %q", name, why)
		}
	}
}

func text(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

// Live objects that fill the memory limit are a shortage.
func TestShortOfTheMemoryLimit(t *testing.T) {
	n := newSensor(cgroup.Of(fstest.MapFS{}))
	before := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(before)
	if why := n.short(); why != "" {
		t.Error(why)
	}
	debug.SetMemoryLimit(1)
	debug.FreeOSMemory() // a collection, which counts live objects
	if why := n.short(); !strings.Contains(why, "of the memory limit of 1") {
		t.Errorf("%q", why)
	}
}

// offHeap is a pool with memory that the collector does not see.
type offHeap struct {
	poolset.Member
	bytes int64
}

func (o *offHeap) OffHeapBytes() int64 { return o.bytes }

// What pools have off the heap counts for the memory limit.
func TestMemoryOffTheHeapCounts(t *testing.T) {
	const limit = 1 << 40
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit))
	pool := new(offHeap)
	poolset.Add(pool)
	n := newSensor(cgroup.Of(fstest.MapFS{}))
	for share, short := range map[float64]bool{0.5: false, 0.95: true} {
		pool.bytes = int64(share * limit)
		if why := n.short(); (why != "") != short || math.Abs(n.used-share) > 0.05 {
			t.Errorf("%.2f of the limit: %.2f is used, %q", share, n.used, why)
		}
	}
	pool.bytes = 0 // it is in the set until the next collection
}

// While nothing can be given back the watcher asks at most once in again, and looks no more than ten times a
// second.
func TestWatcherDoesNotSpin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPod(100)
		p.set("memory.current", "100")
		m := &holder{}
		g := p.group()
		g.join(m)
		pass(10 * time.Minute)
		if n := m.now().asked; n < 2 || n > 1+int(10*time.Minute/again) {
			t.Errorf("asked %d times in ten minutes", m.now().asked)
		}
		p.mu.Lock()
		if p.looks < 600 || p.looks > 6500 {
			t.Errorf("%d looks in ten minutes", p.looks)
		}
		p.mu.Unlock()
		m.mu.Lock()
		m.held = 64 << 20 // so that asking is worth it again
		m.mu.Unlock()
		pass(calm)
		if m.HeldBytes() > leastStep {
			t.Errorf("%d bytes are held a second later", m.now().held)
		}
		g.leave(m)
		pass(2 * calm)
	})
}

// What is held grows older every ten seconds, but not while a member is not in use.
func TestAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &holder{}
		g := newPod(100).group()
		g.join(m)
		for range 60 {
			m.use()
			pass(time.Second)
		}
		if m.now().ages < 4 || m.now().ages > 6 {
			t.Errorf("%d epochs in a minute", m.now().ages)
		}
		pass(2 * epoch)
		n := m.now().ages
		pass(time.Hour)
		if m.now().ages != n {
			t.Errorf("%d epochs while nothing was used", m.now().ages-n)
		}
		g.leave(m)
		pass(2 * calm)
	})
}

// What a file says that cannot be meant is one line of the log.
func TestOddFilesAreALogLine(t *testing.T) {
	for text, lines := range map[string]int{"0": 1, "garbage": 1, "max": 0, "100": 0} {
		synctest.Test(t, func(t *testing.T) {
			p := newPod(1)
			p.set("memory.max", text)
			m := &holder{}
			g := p.group()
			g.join(m)
			pass(time.Minute)
			if n := strings.Count(m.log.String(), "\n"); n != lines {
				t.Errorf("%q: %d lines: %s", text, n, m.log.String())
			}
			g.leave(m)
			pass(2 * calm)
		})
	}
}

// A logging member logs by a handler that may do anything.
type logging struct {
	holder
	slog.Handler
	handle func()
}

func (l *logging) Log() *slog.Logger { return slog.New(l) }

func (l *logging) Handle(context.Context, slog.Record) error {
	l.handle()
	return nil
}

// A logger may open a pool that joins, or close one: no lock is held meanwhile.
func TestALoggerMayJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, lines := newPod(1), 0
		p.set("memory.max", "garbage")
		g, other := p.group(), &holder{}
		m := &logging{Handler: slog.NewTextHandler(io.Discard, nil)}
		m.handle = func() {
			lines++
			if !g.starting.TryLock() {
				t.Error("a logger that opens a pool would wait for ever")
				return
			}
			g.starting.Unlock()
			g.join(other)
			g.leave(other)
		}
		g.join(m)
		if lines != 1 {
			t.Errorf("%d lines", lines)
		}
		g.leave(m)
		pass(2 * calm)
	})
}

// A hard limit that changes is one line of the log, and told to members; it counts from then on. A file that vanishes for a while is none.
func TestAChangedLimitIsALogLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, m := newPod(512), &holder{held: 64 << 20}
		p.set("memory.current", "250")
		g := p.group()
		g.join(m)
		pass(time.Minute)
		p.remove("memory.max")
		pass(time.Minute)
		p.set("memory.max", "512")
		p.set("memory.high", "500")
		if pass(time.Minute); m.log.Len() > 0 || m.now().asked > 0 {
			t.Errorf("asked %d times; log: %s", m.now().asked, &m.log)
		}
		p.remove("memory.high")
		p.set("memory.max", "256")
		pass(time.Second)
		if text := m.log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "memory.max is 256 bytes and was 512") {
			t.Errorf("log: %s", text)
		}
		if m.now().asked == 0 || m.now().changes != 1 {
			t.Errorf("asked %d times below the new limit, of which it was told %d times", m.now().asked, m.now().changes)
		}
		g.leave(m)
		pass(2 * calm)
	})
}

// A hard limit that changes is told to members beside a lower memory.high, and also when it goes or comes.
func TestAHardLimitIsSeenBesideAHigh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, m := newPod(512), &holder{}
		p.set("memory.high", "100")
		g := p.group()
		g.join(m)
		pass(time.Minute)
		for i, max := range []string{"1024", "max", "256"} {
			p.set("memory.max", max)
			if pass(time.Second); m.now().changes != i+1 {
				t.Errorf("members were told %d times of %d changes, the last to %s", m.now().changes, i+1, max)
			}
		}
		for _, text := range []string{"is 1024 bytes and was 512", "is no limit and was 1024", "is 256 bytes and was no limit"} {
			if !strings.Contains(m.log.String(), "memory.max "+text) {
				t.Errorf("no line says that it %s: %s", text, &m.log)
			}
		}
		p.remove("memory.high")
		p.remove("memory.max")
		pass(time.Minute)
		p.set("memory.max", "256")
		if pass(time.Minute); m.now().changes != 3 {
			t.Error("a file that vanished for a while changed a limit")
		}
		g.leave(m)
		pass(2 * calm)
	})
}

// A group that never had a limit changes none.
func TestNoLimitIsNoChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, m := newPod(512), &holder{}
		p.set("memory.max", "max")
		g := p.group()
		g.join(m)
		if pass(time.Minute); m.now().changes != 0 || m.log.Len() > 0 {
			t.Errorf("told %d times: %s", m.now().changes, &m.log)
		}
		g.leave(m)
		pass(2 * calm)
	})
}

// The watcher of the process starts with the first member, and again after the last has left.
func TestProcess(t *testing.T) {
	for range 3 {
		a, b := &holder{}, &holder{}
		Join(a)
		first := process.watcher
		Join(b)
		if process.watcher != first || first == nil {
			t.Error("a second watcher")
		}
		Leave(a)
		if process.watcher == nil {
			t.Error("no watcher for the member that is left")
		}
		Leave(b)
		Leave(b) // does nothing
		if process.watcher != nil {
			t.Error("a watcher without members")
		}
	}
}

// pass lets time pass in a bubble, until all in it sleep.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
