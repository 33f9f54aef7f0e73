package slab

import (
	"fmt"
	"sync"

	"github.com/bufslab/bufslab/device"
)

// Statistics passes allocations through and counts them in scopes, as RMM's
// statistics adaptor does: Push begins a scope, Pop ends it and returns its counts. A
// scope counts the whole program, not one goroutine. Statistics is safe for
// concurrent use if its upstream is.
type Statistics struct {
	forward

	mu    sync.Mutex
	stack []Counts
}

var _ Allocator = (*Statistics)(nil)

// Counts is what happened in a scope. Bytes are as asked for.
type Counts struct {
	Allocs, Frees      int64
	Bytes, PeakBytes   int64 // net since the scope began, negative if it freed what others got; and at most
	AllocatedBytes     int64 // of all Allocs
	Blocks, PeakBlocks int64 // the same for blocks
}

// NewStatistics returns a Statistics over upstream, with one scope that never ends.
func NewStatistics(upstream Allocator) *Statistics {
	return &Statistics{forward: newForward(upstream), stack: make([]Counts, 1)}
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
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stack[len(s.stack)-1].alloc(int64(size))
	}
	return b, err
}

// Free gives a block to the upstream. It does not count one in which that panics: such
// a block need not have been out.
func (s *Statistics) Free(b device.Block) {
	s.upstream.Free(b)
	if b == (device.Block{}) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.stack[len(s.stack)-1]
	c.Frees++
	c.Blocks--
	c.Bytes -= int64(b.Len)
}

func (c *Counts) alloc(n int64) {
	c.Allocs++
	c.AllocatedBytes += n
	c.Bytes += n
	c.Blocks++
	c.PeakBytes = max(c.PeakBytes, c.Bytes)
	c.PeakBlocks = max(c.PeakBlocks, c.Blocks)
}

// Push begins a scope within the current one.
func (s *Statistics) Push() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stack = append(s.stack, Counts{})
}

// Pop ends the scope that was begun last, adds its counts to the one around
// it and returns them. It panics if there is none.
func (s *Statistics) Pop() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := len(s.stack) - 1
	if k == 0 {
		panic("slab: Statistics.Pop without Push")
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

// Counts returns the counts of the current scope.
func (s *Statistics) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stack[len(s.stack)-1]
}

func (c Counts) String() string {
	return fmt.Sprintf("%d allocs, %d frees, %d bytes now, %d at most", c.Allocs, c.Frees, c.Bytes, c.PeakBytes)
}
