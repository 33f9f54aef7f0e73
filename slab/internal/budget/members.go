package budget

import (
	"maps"
	"slices"
	"sync"
)

// A Member holds memory that others may need, and gives back what it holds.
type Member interface{ FreeHeld() }

// Members are holders of the same memory. The zero Members has none. It is safe for concurrent use.
type Members struct {
	mu  sync.Mutex // held by a Budget while the caches of pools are stopped and started
	set map[Member]struct{}
}

// Add enters m. It may be in already.
func (s *Members) Add(m Member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(m)
}

func (s *Members) add(m Member) (isNew bool) {
	if s.set == nil {
		s.set = map[Member]struct{}{}
	}
	before := len(s.set)
	s.set[m] = struct{}{}
	return len(s.set) > before
}

// Remove undoes Add.
func (s *Members) Remove(m Member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.set, m)
}

// Reclaim calls FreeHeld of all. It holds no lock meanwhile.
func (s *Members) Reclaim() { s.reclaim(nil, func() bool { return false }) }

func (s *Members) reclaim(except Member, enough func() bool) bool {
	for _, m := range s.all() {
		if m == except {
			continue
		}
		if m.FreeHeld(); enough() {
			return true
		}
	}
	return false
}

func (s *Members) all() []Member {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.set))
}

// Len returns how many there are.
func (s *Members) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.set)
}
