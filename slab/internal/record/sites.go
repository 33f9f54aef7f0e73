package record

import (
	"runtime"
	"sync"
)

// maxSites bounds the call stacks that are told apart. Beyond, the site is unknown.
const maxSites = 1 << 16

// stackDepth is what it takes to get out of package slab, and of a package of ours that calls it.
const stackDepth = 32

type stack [stackDepth]uintptr

// sites name call sites. It takes a microsecond to find a name, so each is found once for
// a stack. The number of a name is its place in names; 0 is the unknown site.
type sites struct {
	mu    sync.Mutex // leaf
	of    map[stack]int32
	names []string
}

// caller returns the number of the place that called the pool.
func (s *sites) caller(name func([]uintptr) string) int32 {
	var at stack
	n := runtime.Callers(4, at[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of, s.names = map[stack]int32{}, []string{""}
	}
	i, known := s.of[at]
	if !known && len(s.names) < maxSites {
		i = int32(len(s.names))
		s.of[at] = i
		s.names = append(s.names, field(name(at[:n])))
	}
	return i
}

// name returns the name of a number.
func (s *sites) name(i int) string { return s.list()[i] }

// list returns the names so far. They do not change.
func (s *sites) list() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.names
}
