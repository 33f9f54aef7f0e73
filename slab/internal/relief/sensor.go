package relief

import (
	"fmt"
	"maps"
	"runtime/metrics"

	"github.com/bufslab/bufslab/internal/cgroup"
	"github.com/bufslab/bufslab/internal/memlimit"
	"github.com/bufslab/bufslab/internal/poolset"
)

const (
	// shortAt is the share of a group's limit from which memory is short. Above it are some 50 MiB of
	// a pod of 512 MiB.
	shortAt = 0.9
	// nearAt is the share from which looks are frequent.
	nearAt = 0.5
	// heapAt is the share of GOMEMLIMIT that live objects and the pools may have. Beyond it the
	// collector runs again and again.
	heapAt = 0.9
)

// A sensor says whether memory is short.
type sensor struct {
	system   cgroup.System
	events   map[cgroup.Group]int64 // as read last
	answered map[cgroup.Group]int64 // events that a step has followed
	limits   map[cgroup.Group]int64 // hard ones, as read last
	changed  string                 // says which of them has changed, until the watcher has logged it
	odd      string                 // names a file whose contents make no sense
	used     float64                // the largest used share of a limit at the last look; 1 before the first
	live     []metrics.Sample
}

func newSensor(s cgroup.System) *sensor {
	n := &sensor{system: s, events: map[cgroup.Group]int64{}, answered: map[cgroup.Group]int64{},
		limits: map[cgroup.Group]int64{}, odd: s.Limit().Odd, used: 1}
	n.live = []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	for _, g := range s.Groups() {
		u := s.Usage(g, 0)
		n.answered[g] = u.Events
		n.noteLimit(g, u)
	}
	n.changed = ""
	return n
}

// short says which memory is short, or returns "". An event says so until answer. The process may be in other
// groups than last time.
func (n *sensor) short() (why string) {
	n.used = 0
	for _, g := range n.system.Groups() {
		u := n.system.Usage(g, shortAt)
		before, known := n.answered[g]
		if n.events[g] = u.Events; !known {
			n.answered[g] = u.Events
		}
		n.noteLimit(g, u)
		n.used = max(n.used, u.Used())
		switch {
		case known && u.Events > before:
			why = fmt.Sprintf("/%s/%s counts %d more", g.Dir, cgroup.EventsFile, u.Events-before)
		case u.Used() > shortAt:
			why = fmt.Sprintf("%d bytes are used of the %d of %s", u.Bytes, u.Limit, u.Source)
		}
	}
	if why == "" {
		why = n.heap()
	}
	return why
}

// noteLimit notes that a hard limit has changed. A limit of memory.high may change at any time, and is not noted.
func (n *sensor) noteLimit(g cgroup.Group, u cgroup.Usage) {
	was := n.limits[g]
	if u.Hard == 0 || u.Hard == was {
		return
	}
	n.limits[g] = u.Hard
	if was > 0 || u.Hard < cgroup.NoLimit { // else it is the first look at a group without a limit
		n.changed = fmt.Sprintf("%s is %s and was %s", g.HardFile(), limitText(u.Hard), limitText(was))
	}
}

func limitText(n int64) string {
	if n == 0 || n == cgroup.NoLimit {
		return "no limit"
	}
	return fmt.Sprintf("%d bytes", n)
}

// answer says that a step has followed the events that were read.
func (n *sensor) answer() { maps.Copy(n.answered, n.events) }

// heap says that live objects and the pools leave the collector too little of GOMEMLIMIT.
func (n *sensor) heap() string {
	limit := memlimit.Total()
	if limit == memlimit.None || limit <= 0 {
		return ""
	}
	metrics.Read(n.live)
	if n.live[0].Value.Kind() != metrics.KindUint64 {
		return ""
	}
	live := float64(n.live[0].Value.Uint64()) + float64(poolset.OffHeapBytes())
	n.used = max(n.used, live/float64(limit))
	if live <= heapAt*float64(limit) {
		return ""
	}
	return fmt.Sprintf("%.0f bytes are live of the memory limit of %d", live, limit)
}
