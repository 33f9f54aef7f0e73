package cgroup

import (
	"path"
	"strconv"
	"strings"
)

// A Usage is how much a group uses of its limit.
type Usage struct {
	Bytes, Limit int64  // Limit is 0 where there is none, or nothing says what is used
	Hard         int64  // the hard limit of the two; NoLimit where there is none, 0 where no file says
	Events       int64  // of version 2: how often the group was short
	Source       string // the file of the limit
}

// Used reports what share of the limit is used, 0 where there is none.
func (u Usage) Used() float64 {
	if u.Limit == 0 {
		return 0
	}
	return float64(u.Bytes) / float64(u.Limit)
}

// Usage reads what g uses, and the lower of its limits. What the page cache has that the system can
// have back at once counts as free, if more than busy of the limit is used with it: that takes one
// more file.
func (s System) Usage(g Group, busy float64) (u Usage) {
	for i, name := range files[g.Version] {
		name = path.Join(g.Dir, name)
		n, _ := s.bytes(name)
		if i == 0 {
			u.Hard = n
		}
		if isLimit(n) && (u.Limit == 0 || n < u.Limit) {
			u.Limit, u.Source = n, "/"+name
		}
	}
	u.Events = s.events(g)
	if u.Limit == 0 {
		return u
	}
	text, err := s.read(path.Join(g.Dir, usageFile[g.Version]))
	n, bad := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || bad != nil || n < 0 {
		return Usage{Hard: u.Hard, Events: u.Events}
	}
	if u.Bytes = n; u.Used() > busy {
		u.Bytes = max(0, n-s.field(path.Join(g.Dir, "memory.stat"), cacheField[g.Version]))
	}
	return u
}

var (
	usageFile  = [...]string{1: "memory.usage_in_bytes", 2: "memory.current"}
	cacheField = [...]string{1: "total_inactive_file", 2: "inactive_file"}
)

// EventsFile is the file of a group of version 2 that counts how often it was short.
const EventsFile = "memory.events"

// events adds up what counts how often g was short.
func (s System) events(g Group) (n int64) {
	if g.Version != 2 {
		return 0
	}
	text, _ := s.read(path.Join(g.Dir, EventsFile))
	for _, name := range []string{"high", "max", "oom"} {
		n += fieldOf(text, name)
	}
	return n
}

// field returns a number of a file whose lines are names and numbers, 0 where it is not there.
func (s System) field(file, name string) int64 {
	text, _ := s.read(file)
	return fieldOf(text, name)
}

func fieldOf(text, name string) int64 {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return max(0, n)
		}
	}
	return 0
}
