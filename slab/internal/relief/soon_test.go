package relief

import (
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/bufslab/bufslab/internal/cgroup"
)

// A bell is a waiter that reports events when a test rings it, as a poller does.
type bell struct {
	clock
	rings chan string
}

func (b bell) wait(d time.Duration) (event string, more bool) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case event = <-b.rings:
		return event, true
	case <-t.C:
		return "", true
	case <-b.stopped:
		return "", false
	}
}

// A scene is a system that a test makes short of memory, with its watcher. Its files take slow to open.
type scene struct {
	*pod
	group *group
	rings chan string
	slow  atomic.Int64 // nanoseconds
}

func (s *scene) Open(name string) (fs.File, error) {
	time.Sleep(time.Duration(s.slow.Load())) // of the bubble's clock
	return s.pod.Open(name)
}

func newScene() *scene {
	s := &scene{pod: newPod(100), rings: make(chan string, 1)}
	s.files["proc/self/cgroup"] = text("0::/a\n4:memory:/a\n")
	s.files[podDir+"memory.events"] = text("max 0\n")
	s.files["sys/fs/cgroup/memory/a/memory.limit_in_bytes"] = text("100")
	s.files["sys/fs/cgroup/memory/a/memory.usage_in_bytes"] = text("0")
	s.group = &group{members: map[Member]*use{}, system: func() cgroup.System { return cgroup.Of(s) },
		waiter: func(cgroup.System) waiter { return bell{newClock(), s.rings} }}
	return s
}

func (s *scene) version1(used string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files["sys/fs/cgroup/memory/a/memory.usage_in_bytes"] = &fstest.MapFile{Data: []byte(used)}
}

func (s *scene) end(m *holder) {
	s.group.leave(m)
	pass(2 * calm)
}

// An alarm says that memory is short, and that it is not.
type alarm struct{ short, enough func(s *scene) }

var events int

// ballast is the size of an object that is live and never touched, so that a limit can be short without a collector
// that runs all the time.
const ballast = 256 << 20

var sources = map[string]alarm{
	"version 2: memory.current": {
		func(s *scene) { s.set("memory.current", "95") },
		func(s *scene) { s.set("memory.current", "10") }},
	"version 2: memory.events": {
		func(s *scene) { events++; s.set("memory.events", fmt.Sprintln("max", events)) },
		func(s *scene) {}},
	"version 1: memory.usage_in_bytes": {
		func(s *scene) { s.version1("95") },
		func(s *scene) { s.version1("10") }},
	"version 1: memory.pressure_level": {
		func(s *scene) { s.version1("95"); s.rings <- "" },
		func(s *scene) { s.version1("10") }},
	"stall information": {
		func(s *scene) { s.rings <- "tasks wait for memory" },
		func(s *scene) {}},
	"GOMEMLIMIT": {
		func(s *scene) { debug.SetMemoryLimit(ballast + ballast/10) },
		func(s *scene) { debug.SetMemoryLimit(math.MaxInt64) }},
}

// What happened before: pasts end with enough memory.
var pasts = map[string]func(s *scene, x alarm, m *holder){
	"nothing": func(*scene, alarm, *holder) {},
	"a shortage with nothing to give": func(s *scene, x alarm, m *holder) {
		x.short(s)
		pass(20 * time.Second)
		x.enough(s)
	},
	"a step that got nothing": func(s *scene, x alarm, m *holder) {
		x.short(s)
		pass(2 * near)
		x.enough(s)
	},
	"a look that took half a second": func(s *scene, x alarm, m *holder) {
		s.slow.Store(int64(time.Second / 10))
		x.short(s)
		pass(10 * time.Second)
		x.enough(s)
		s.slow.Store(0)
	},
	"memory that cannot go back": func(s *scene, x alarm, m *holder) {
		m.mu.Lock()
		m.stuck = 64 << 20
		m.mu.Unlock()
		x.short(s)
		pass(20 * time.Second)
		x.enough(s)
	},
}

// Memory goes back within a second of the time that memory is short, whichever source says so, and whatever came
// before: memory that pools hold, and memory that keepers keep.
func TestSoon(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	live := make([]byte, ballast)
	debug.FreeOSMemory() // a collection, which counts live objects
	for name, x := range sources {
		for past, before := range pasts {
			for _, kept := range []int64{0, 1 << 20} {
				t.Run(fmt.Sprintf("%s after %s, %d kept", name, past, kept), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { testSoon(t, x, before, kept) })
				})
			}
		}
	}
	runtime.KeepAlive(live)
}

func testSoon(t *testing.T, x alarm, before func(*scene, alarm, *holder), kept int64) {
	s, m := newScene(), &holder{}
	s.group.join(m)
	defer s.end(m)
	pass(calm / 3)
	before(s, x, m)
	m.mu.Lock()
	m.held, m.kept = 1<<20-kept, kept
	m.mu.Unlock()
	x.short(s)
	defer x.enough(s)
	pass(time.Second)
	if n := m.now(); n.held+n.kept > 0 {
		t.Errorf("%d bytes are held and %d kept a second later", n.held, n.kept)
	}
}

// Memory that keepers get while memory is short, long after nothing was left, goes back within a second.
func TestSoonWhileMemoryIsShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := newScene(), &holder{}
		s.group.join(m)
		defer s.end(m)
		s.set("memory.current", "95")
		for range 100 {
			pass(time.Second * 7 / 5)
			m.mu.Lock()
			m.kept = 1 << 20
			m.mu.Unlock()
			if pass(time.Second); m.now().kept > 0 {
				t.Fatal("keepers have memory a second later")
			}
		}
	})
}

// Memory that cannot go back is asked for no oftener than nothing.
func TestMemoryThatCannotGoBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, m := newScene(), &holder{stuck: 64 << 20}
		s.group.join(m)
		defer s.end(m)
		s.set("memory.current", "95")
		pass(time.Minute)
		if n := m.now().asked; n > 2*(1+int(time.Minute/again)) {
			t.Errorf("asked %d times in a minute", n)
		}
	})
}
