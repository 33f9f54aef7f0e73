// Package upstreamtest has upstreams for tests. They have no device: they count, refuse
// beyond a capacity, fail when told to, and panic where they are misused.
//
//	source.go    a Source has regions, a Device says that it is one, a Fixed gives one block
//	pages.go     Pages can also extend regions in place
//	stream.go    a Stream does its work when the test says so
//	breaking.go  a Breaking panics, and Break says whether what is over it stays whole
package upstreamtest

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/bufslab/bufslab/device"
)

// A Region is memory of exactly the size asked for.
type Region struct {
	Mem      []byte // nil unless its source is a host
	Refuse   error  // of Quarantine
	Lost     int64  // bytes in quarantine
	Measured atomic.Int64
	size     int
}

// NewRegion returns a region that no source knows.
func NewRegion(size int) *Region { return &Region{size: size} }

// Block returns a block of size bytes that no other call returns.
func Block(size int) device.Block { return device.Block{Region: NewRegion(size), Len: size} }

// Size returns the size, and counts in Measured that it was asked for.
func (r *Region) Size() int { r.Measured.Add(1); return r.size }

// Bytes returns the memory, if there is any.
func (r *Region) Bytes() []byte { return r.Mem }

// Quarantine counts bytes that are lost, or refuses.
func (r *Region) Quarantine(_, n int) error {
	if r.Refuse == nil {
		r.Lost += int64(n)
	}
	return r.Refuse
}

// A Source is an upstream whose blocks are whole regions. Its zero value never fails.
// It is safe for concurrent use; its fields are read when no call runs.
type Source struct {
	Capacity int64 // refuses beyond it; 0 is none
	FailAt   int   // this call of Alloc or Commit, from 1, is refused; 0 is none
	FailWith error // instead of out of memory
	Panic    bool  // instead of an error
	Host     bool  // regions have bytes, aligned to 16
	Round    int   // regions are multiples of it; 0 is 1

	Calls, Allocs, Frees int
	Bytes                int64

	mu  sync.Mutex
	out map[device.Region]int // the length as asked
}

// Out returns the number of blocks that are out.
func (s *Source) Out() int64 { return int64(len(s.out)) }

// Alloc returns a region of its own; see [Source].
func (s *Source) Alloc(size int) (device.Block, error) {
	if size == 0 {
		return device.Block{}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	round := max(s.Round, 1)
	n := (size + round - 1) / round * round
	if err := s.charge(n); err != nil {
		return device.Block{}, err
	}
	r := NewRegion(n)
	if s.Host {
		r.Mem = make([]byte, (n+31)&^31)[:n:n]
	}
	if s.out == nil {
		s.out = map[device.Region]int{}
	}
	s.out[r] = size
	return device.Block{Region: r, Len: size}, nil
}

// charge counts n bytes, unless the call is to fail or there is no room. The caller
// holds mu.
func (s *Source) charge(n int) error {
	s.Calls++
	switch fail := s.Calls == s.FailAt; {
	case fail && s.Panic:
		panic("upstreamtest: told to")
	case fail && s.FailWith != nil:
		return s.FailWith
	case fail || s.Capacity > 0 && s.Bytes+int64(n) > s.Capacity:
		return fmt.Errorf("upstreamtest: %d bytes: %w", n, device.ErrOutOfMemory)
	}
	s.Allocs++
	s.Bytes += int64(n)
	return nil
}

// Free takes a block back, or panics if it is not out as it is.
func (s *Source) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if size, ok := s.out[b.Region]; !ok || b.Off != 0 || b.Len != size {
		panic(fmt.Sprintf("upstreamtest: Free of a block that is not out, %d bytes at offset %d", b.Len, b.Off))
	}
	delete(s.out, b.Region)
	s.Frees++
	s.Bytes -= int64(b.Region.(*Region).size)
}

// GiveUp puts pages in quarantine, if their region does not refuse.
func (s *Source) GiveUp(pages device.Block, n int64) bool {
	if RegionOf(pages).Quarantine(pages.Off, pages.Len) != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Bytes -= n
	return true
}

// A Device is a Source that says it is a device: its blocks are whole regions. Of the
// other methods of one it has Name only.
type Device struct {
	device.Device
	*Source
}

// Name is no scheme's.
func (d Device) Name() string { return "upstreamtest" }

// Alloc is the source's.
func (d Device) Alloc(size int) (device.Block, error) { return d.Source.Alloc(size) }

// Free is the source's.
func (d Device) Free(b device.Block) { d.Source.Free(b) }

// A Fixed returns Block and Err, whatever is asked.
type Fixed struct {
	Block device.Block
	Err   error
	Frees int
}

// Alloc returns Block and Err.
func (f *Fixed) Alloc(int) (device.Block, error) { return f.Block, f.Err }

// Free counts.
func (f *Fixed) Free(device.Block) { f.Frees++ }

// RegionOf returns the region of a block of this package.
func RegionOf(b device.Block) *Region {
	if g, ok := b.Region.(*pageRegion); ok {
		return g.Region
	}
	return b.Region.(*Region)
}
