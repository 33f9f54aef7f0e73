package wrap

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/slab/internal/watch"
)

// A Statistics passes allocations through and counts them in scopes, as RMM's statistics adaptor does:
// Push begins a scope, Pop ends it and returns its counts. A scope counts the whole program, not one
// goroutine. Each call takes a mutex, so a Statistics is not for hot paths.
type Statistics struct {
	layer
	scopes watch.Scopes
}

var _ slab.Allocator = (*Statistics)(nil)

// NewStatistics returns a Statistics over an upstream, with one scope that never ends.
func NewStatistics(up slab.Allocator) *Statistics { return &Statistics{layer: over(up)} }

// Alloc returns a block of the upstream. Size 0 and failed calls do not count.
func (s *Statistics) Alloc(size int) (device.Block, error) {
	if size == 0 {
		return device.Block{}, nil
	}
	b, err := s.upstream.Alloc(size)
	if err == nil {
		s.scopes.Alloc(size)
	}
	return b, err
}

// Free gives a block to the upstream. If the upstream panics the call does not count: the
// block may not have been active.
func (s *Statistics) Free(b device.Block) {
	if b == (device.Block{}) {
		s.upstream.Free(b)
		return
	}
	s.scopes.Free(b.Len) // before it goes, as its place may be handed out at once
	gone := false
	defer func() {
		if !gone {
			s.scopes.Unfree(b.Len)
		}
	}()
	s.upstream.Free(b)
	gone = true
}

// Push begins a scope within the current scope.
func (s *Statistics) Push() { s.scopes.Push() }

// Pop ends the scope that was begun last, adds its counts to the scope around
// it and returns them. It panics if there is no scope.
func (s *Statistics) Pop() slab.Counts { return slab.Counts(s.scopes.Pop()) }

// Counts returns the counts of the current scope.
func (s *Statistics) Counts() slab.Counts { return slab.Counts(s.scopes.Counts()) }
