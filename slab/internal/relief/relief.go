// Package relief gives memory back that pools hold, as the system runs short of it. There is one watcher
// a process. The first member that joins starts it, and the last one that leaves ends it.
//
//	relief.go       who takes part
//	step.go         what goes back, and whose
//	sensor.go       what says that memory is short
//	watch.go        the loop: it sleeps until something may be the case
//	clock.go        how it sleeps where nothing tells of events
//	poll_linux.go   how it sleeps elsewhere: events of control groups and stall information wake it
package relief

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/bufslab/bufslab/internal/cgroup"
)

// A Member is a pool that holds memory for reuse. Its methods are called by one goroutine at a time,
// without a lock.
type Member interface {
	Calls() int64     // Gets and Releases so far
	HeldBytes() int64 // that could go back, about
	// GiveBack gives back about n bytes, what was held longest first, and returns how many. Keepers says to
	// ask for what others keep of its buffers, too. Why says what is short.
	GiveBack(n int64, keepers bool, why string) int64
	Age()              // ends an epoch of what is held
	Log() *slog.Logger // for what a file says that cannot be meant
	OnGoHeap() bool    // what goes back is garbage, and not the system's yet
}

// A group is the members of a watcher. That of the process is shared.
type group struct {
	starting sync.Mutex // held while the watcher starts or ends; before mu
	mu       sync.Mutex // leaf
	members  map[Member]*use
	watcher  *watcher
	system   func() cgroup.System
	waiter   func(cgroup.System) waiter
}

// A use is when a member was in use.
type use struct {
	calls int64     // up to the last look
	since time.Time // of the last look that saw another number
	aged  int64     // calls when Age was called last
}

var process = group{members: map[Member]*use{}, system: cgroup.Machine, waiter: newWaiter}

// Join has m give back when memory is short, until Leave.
func Join(m Member) { process.join(m) }

// Leave undoes Join. A step that runs already may ask m still.
func Leave(m Member) { process.leave(m) }

func (g *group) join(m Member) {
	g.starting.Lock()
	defer g.starting.Unlock()
	g.mu.Lock()
	g.members[m] = &use{since: time.Now()}
	first := len(g.members) == 1
	g.mu.Unlock()
	if first {
		g.watcher = startWatcher(g, m.Log())
	}
}

func (g *group) leave(m Member) {
	g.starting.Lock()
	defer g.starting.Unlock()
	g.mu.Lock()
	_, in := g.members[m]
	delete(g.members, m)
	last := in && len(g.members) == 0
	g.mu.Unlock()
	if last {
		g.watcher.end()
		g.watcher = nil
	}
}

// looked returns the members, those that were not in use for longest first.
func (g *group) looked() (list []Member) {
	g.mu.Lock()
	uses := maps.Clone(g.members)
	g.mu.Unlock()
	for m, u := range uses {
		if n := m.Calls(); n != u.calls {
			u.calls, u.since = n, time.Now()
		}
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b Member) int { return uses[a].since.Compare(uses[b].since) })
	return list
}

// age ends an epoch of those members that were in use since the last.
func (g *group) age() {
	for _, m := range g.looked() {
		g.mu.Lock()
		u := g.members[m]
		due := u != nil && u.calls != u.aged
		if due {
			u.aged = u.calls
		}
		g.mu.Unlock()
		if due {
			m.Age()
		}
	}
}
