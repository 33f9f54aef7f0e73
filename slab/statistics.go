package slab

import (
	"fmt"
	"sync"

	"github.com/bufslab/bufslab/device"
)

// Statistics passes allocations through and counts them in scopes, as RMM's
// statistics adaptor does: Push begins a scope, Pop ends it and returns its counts. A
// scope counts the whole program, not one goroutine. Statistics is safe for
// concurrent use if its upstream is. Beneath a pool it sees the blocks that the pool takes
// from its upstream, not the pages of a range that grows, as bestfit and slab have on mmap and
// virtual; with Config.Statistics a pool counts its own Gets and Releases so.
type Statistics struct {
	forward
	scopes scopes
}

var _ Allocator = (*Statistics)(nil)

// NewStatistics returns a Statistics over upstream, with one scope that never ends.
func NewStatistics(upstream Allocator) *Statistics {
	return &Statistics{forward: newForward(upstream), scopes: newScopes()}
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
		s.scopes.alloc(size)
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
	s.scopes.free(b.Len) // before it goes, as its place may be handed out at once
	gone := false
	defer func() {
		if !gone {
			s.scopes.unfree(b.Len)
		}
	}()
	s.upstream.Free(b)
	gone = true
}

// Push begins a scope within the current one.
func (s *Statistics) Push() { s.scopes.push() }

// Pop ends the scope that was begun last, adds its counts to the one around
// it and returns them. It panics if there is none.
func (s *Statistics) Pop() Counts { return s.scopes.pop() }

// Counts returns the counts of the current scope.
func (s *Statistics) Counts() Counts { return s.scopes.counts() }

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
func (p *Pool) Push() { p.scopes().push() }

// Pop ends the scope that was begun last, adds its counts to the one around it and returns
// them. It panics if there is none, and without Config.Statistics.
func (p *Pool) Pop() Counts { return p.scopes().pop() }

// Counts returns the counts of the current scope; without a Push they are those since Open.
// It panics without Config.Statistics.
func (p *Pool) Counts() Counts { return p.scopes().counts() }

func (p *Pool) scopes() *scopes {
	s := p.opened().leaks.scopes
	if s == nil {
		panic("slab: scopes of a pool without Config.Statistics")
	}
	return s
}

// scopes are within each other; the first never ends.
type scopes struct {
	mu    sync.Mutex // leaf
	stack []Counts
}

func newScopes() scopes { return scopes{stack: make([]Counts, 1)} }

func (s *scopes) alloc(size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, n := &s.stack[len(s.stack)-1], int64(size)
	c.Allocs++
	c.AllocatedBytes += n
	c.Bytes += n
	c.Blocks++
	c.PeakBytes = max(c.PeakBytes, c.Bytes)
	c.PeakBlocks = max(c.PeakBlocks, c.Blocks)
}

func (s *scopes) free(size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.stack[len(s.stack)-1]
	c.Frees++
	c.Blocks--
	c.Bytes -= int64(size)
}

// unfree takes back a free.
func (s *scopes) unfree(size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.stack[len(s.stack)-1]
	c.Frees--
	c.Blocks++
	c.Bytes += int64(size)
	c.PeakBytes = max(c.PeakBytes, c.Bytes)
	c.PeakBlocks = max(c.PeakBlocks, c.Blocks)
}

func (s *scopes) push() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stack = append(s.stack, Counts{})
}

func (s *scopes) pop() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := len(s.stack) - 1
	if k == 0 {
		panic("slab: Pop without Push")
	}
	in := s.stack[k]
	s.stack = s.stack[:k]
	out := &s.stack[k-1]
	out.PeakBytes = max(out.PeakBytes, out.Bytes+in.PeakBytes)
	out.PeakBlocks = max(out.PeakBlocks, out.Blocks+in.PeakBlocks)
	out.Allocs += in.Allocs
	out.Frees += in.Frees
	out.AllocatedBytes += in.AllocatedBytes
	out.Bytes += in.Bytes
	out.Blocks += in.Blocks
	return in
}

func (s *scopes) counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stack[len(s.stack)-1]
}
