// Package relief gives held memory of pools back when the system runs short of memory. There is one watcher
// a process. The first member that joins starts it, and the last member that leaves ends it.
//
//	relief.go       the members
//	step.go         which memory goes back, and of which member
//	sensor.go       whether memory is short
//	watch.go        the loop: it sleeps until memory may be short
//	clock.go        how it sleeps on systems without events
//	poll_linux.go   how it sleeps on Linux: events of control groups and stall information wake it
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
	// GiveBack gives back about n bytes, the longest held first, and returns their number. With keepers
	// it also asks keepers of the pool's buffers to release them. Why says which memory is short.
	GiveBack(n int64, keepers bool, why string) int64
	LimitChanged()     // tells that a limit of the system is another than at the last look
	Age()              // ends an epoch of held memory
	Log() *slog.Logger // for files whose contents make no sense
	OnGoHeap() bool    // memory that goes back is garbage, and not yet the system's
}

// A group is the members of a watcher. The process has one.
type group struct {
	starting sync.Mutex // held while the watcher starts or ends; before mu
	mu       sync.Mutex // leaf
	members  map[Member]*use
	watcher  *watcher
	system   func() cgroup.System
	waiter   func(cgroup.System) waiter
}

// A use says when a member was last in use.
type use struct {
	calls int64     // up to the last look
	since time.Time // of the last look that saw another number
	aged  int64     // calls when Age was called last
}

var process = group{members: map[Member]*use{}, system: cgroup.Machine, waiter: newWaiter}

// Join has m give back when memory is short, until Leave.
func Join(m Member) { process.join(m) }

// Leave undoes Join. A step that runs already may still ask m.
func Leave(m Member) { process.leave(m) }

func (g *group) join(m Member) {
	if w := g.enter(m); w != nil {
		w.report() // without a lock: a logger may open a pool
	}
}

// enter returns the watcher if m is the first member and so starts it.
func (g *group) enter(m Member) *watcher {
	g.starting.Lock()
	defer g.starting.Unlock()
	g.mu.Lock()
	g.members[m] = &use{since: time.Now()}
	first := len(g.members) == 1
	g.mu.Unlock()
	if !first {
		return nil
	}
	g.watcher = startWatcher(g, m.Log())
	return g.watcher
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

// looked returns the members. The member that was unused for the longest time is first.
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

// age ends an epoch of the members that were in use since their last epoch.
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
