package watch

import "sync"

// Scopes count what is got and released, in scopes within each other; the first never ends. The
// zero Scopes has that one.
type Scopes struct {
	mu    sync.Mutex // leaf
	outer []Counts   // around the current one
	now   Counts
}

// Counts is what happened in a scope: see slab.Counts.
type Counts struct {
	Allocs, Frees      int64
	Bytes, PeakBytes   int64
	AllocatedBytes     int64
	Blocks, PeakBlocks int64
}

// Alloc counts a Get of size bytes.
func (s *Scopes) Alloc(size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Allocs++
	s.now.AllocatedBytes += int64(size)
	s.now.add(1, int64(size))
}

// Free counts a Release of size bytes.
func (s *Scopes) Free(size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Frees++
	s.now.add(-1, -int64(size))
}

// Unfree takes back a Free.
func (s *Scopes) Unfree(size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Frees--
	s.now.add(1, int64(size))
}

func (c *Counts) add(blocks, bytes int64) {
	c.Blocks += blocks
	c.Bytes += bytes
	c.PeakBlocks, c.PeakBytes = max(c.PeakBlocks, c.Blocks), max(c.PeakBytes, c.Bytes)
}

// Push begins a scope within the current one.
func (s *Scopes) Push() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outer, s.now = append(s.outer, s.now), Counts{}
}

// Pop ends the current scope, adds its counts to the one around it and returns them. It panics if
// there is none around it.
func (s *Scopes) Pop() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := len(s.outer) - 1
	if k < 0 {
		panic("slab: Pop without Push")
	}
	in, out := s.now, s.outer[k]
	out.PeakBytes = max(out.PeakBytes, out.Bytes+in.PeakBytes)
	out.PeakBlocks = max(out.PeakBlocks, out.Blocks+in.PeakBlocks)
	out.Allocs += in.Allocs
	out.Frees += in.Frees
	out.AllocatedBytes += in.AllocatedBytes
	out.Bytes += in.Bytes
	out.Blocks += in.Blocks
	s.outer, s.now = s.outer[:k], out
	return in
}

// Counts returns the counts of the current scope.
func (s *Scopes) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}
