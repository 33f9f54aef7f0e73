package slab

import (
	"fmt"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/watch"
)

// Statistics passes allocations through and counts them in scopes, as RMM's
// statistics adaptor does: Push begins a scope, Pop ends it and returns its counts. A
// scope counts the whole program, not one goroutine. Statistics is safe for
// concurrent use if its upstream is. Beneath a pool it sees the blocks that the pool takes
// from its upstream, not the pages of a range that grows, as bestfit and slab have on mmap and
// virtual; with Config.Statistics a pool counts its own Gets and Releases so.
type Statistics struct {
	forward
	scopes watch.Scopes
}

var _ Allocator = (*Statistics)(nil)

// NewStatistics returns a Statistics over upstream, with one scope that never ends.
func NewStatistics(upstream Allocator) *Statistics {
	return &Statistics{forward: newForward(upstream)}
}

// Unwrap returns the upstream.
func (s *Statistics) Unwrap() Allocator { return s.upstream }

// Alloc returns a block of the upstream. It does not count size 0.
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

// Free gives a block to the upstream. It does not count one in which that panics: such
// a block need not have been out.
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

// Push begins a scope within the current one.
func (s *Statistics) Push() { s.scopes.Push() }

// Pop ends the scope that was begun last, adds its counts to the one around
// it and returns them. It panics if there is none.
func (s *Statistics) Pop() Counts { return Counts(s.scopes.Pop()) }

// Counts returns the counts of the current scope.
func (s *Statistics) Counts() Counts { return Counts(s.scopes.Counts()) }

// Counts is what happened in a scope. Bytes are as asked for. Of a pool Allocs are its Gets,
// and Frees its Releases and what was found forgotten.
type Counts struct {
	Allocs, Frees      int64
	Bytes, PeakBytes   int64 // net since the scope began, negative if it freed what others got; and at most
	AllocatedBytes     int64 // of all Allocs
	Blocks, PeakBlocks int64 // the same for blocks
}

func (c Counts) String() string {
	return fmt.Sprintf("%d allocs, %d frees, %d bytes now, %d at most", c.Allocs, c.Frees, c.Bytes, c.PeakBytes)
}

// Push begins a scope within the current one: [Pool.Pop] ends it. Scopes count all Gets and
// Releases of the pool, on any goroutine, size 0 and Grow, too, and know what was out at
// most. Push panics without Config.Statistics.
func (p *Pool) Push() { p.scopes().Push() }

// Pop ends the scope that was begun last, adds its counts to the one around it and returns
// them. It panics if there is none, and without Config.Statistics.
func (p *Pool) Pop() Counts { return Counts(p.scopes().Pop()) }

// Counts returns the counts of the current scope; without a Push they are those since Open.
// It panics without Config.Statistics.
func (p *Pool) Counts() Counts { return Counts(p.scopes().Counts()) }

func (p *Pool) scopes() *watch.Scopes {
	s := p.opened().leaks.Scopes
	if s == nil {
		panic("slab: scopes of a pool without Config.Statistics")
	}
	return s
}
