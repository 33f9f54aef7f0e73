// Package upstreamtest has upstreams for tests. They count, refuse beyond a capacity, fail or
// panic when told to, and panic where they are misused.
//
//	source.go  a Source has regions; Calls that a test sees, and has fail
//	region.go  memory of its own, with guards where it is aligned, and blocks that break the contract
//	pages.go   Pages can also extend regions in place; accounts.go: what it has out
//	device.go  a Device says that it is one, a Watched watches one, a Fixed gives one block
//	stream.go  a Stream does its work when the test says so
package upstreamtest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/bufslab/bufslab/device"
)

// A Source is an upstream whose blocks are whole regions. Its zero value never fails.
// It is safe for concurrent use; its fields are read when no call runs.
type Source struct {
	Capacity int64                   // refuses beyond it; 0 is none
	FailAt   int                     // this call of Alloc or Commit, from 1, is refused; 0 is none
	FailWith error                   // instead of out of memory
	Panic    bool                    // instead of an error
	Before   func(call string) error // is told the name of each call, panics or has it fail; Free cannot fail
	Under    device.Device           // that memory comes from; nil: regions are the source's own
	Host     bool                    // its own regions have bytes, aligned to 16
	Align    int                     // of every address; then guards are beside each block. 0: there are none
	Round    int                     // its own regions are multiples of it; 0 is 1

	Calls, Allocs, Frees int
	Refused              int // calls that found no room
	Bytes, Peak          int64

	mu     sync.Mutex // guards the numbers, and what the ranges know
	out    map[device.Region]lent
	breach Breach // of the next block
}

// A lent block is out: as it was given, as Under knows it, and what it counts.
type lent struct {
	given, real device.Block
	bytes       int64
}

// Out returns the number of blocks that are out.
func (s *Source) Out() int64 { return int64(len(s.out)) }

// Alloc returns a region of its own; see [Source].
func (s *Source) Alloc(size int) (device.Block, error) {
	if size < 0 {
		return device.Block{}, fmt.Errorf("upstreamtest: %d bytes: %w", size, device.ErrSize)
	}
	if err := s.before("Alloc"); err != nil || size == 0 {
		return device.Block{}, err
	}
	round := max(s.Round, 1)
	n := (size + round - 1) / round * round
	if err := s.take(n); err != nil {
		return device.Block{}, err
	}
	l, err := s.give(size, n)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || l.given.Region == nil {
		s.Allocs--
		s.Bytes -= int64(n)
		return device.Block{}, s.refusal(err)
	}
	if s.out == nil {
		s.out = map[device.Region]lent{}
	}
	s.out[l.given.Region] = l
	s.count(l.bytes - int64(n))
	return l.given, nil
}

// before asks Before.
func (s *Source) before(call string) error {
	if s.Before == nil {
		return nil
	}
	err := s.Before(call)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refusal(err)
}

// refusal counts err, which it returns, if it says that there is no room. The caller holds mu.
func (s *Source) refusal(err error) error {
	if errors.Is(err, device.ErrOutOfMemory) {
		s.Refused++
	}
	return err
}

func (s *Source) take(n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.charge(n)
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
	case fail || s.Capacity > 0 && int64(n) > s.Capacity-s.Bytes:
		return s.refusal(fmt.Errorf("upstreamtest: %d bytes: %w", n, device.ErrOutOfMemory))
	}
	s.Allocs++
	s.Bytes += int64(n)
	return nil
}

// count adds what has been taken. The caller holds mu.
func (s *Source) count(n int64) {
	s.Bytes += n
	s.Peak = max(s.Peak, s.Bytes)
}

// Free takes a block back, or panics if it is not out as it is.
func (s *Source) Free(b device.Block) {
	_ = s.before("Free") // a Free cannot fail, but it can panic
	if b == (device.Block{}) {
		return
	}
	l := s.takeBack(b)
	if s.Under != nil {
		s.Under.Free(l.real)
	} else if s.Align > 0 {
		l.real.Region.(*Region).wipe(l.real)
	}
}

func (s *Source) takeBack(b device.Block) lent {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.out[b.Region]
	if !ok || l.given != b {
		panic(fmt.Sprintf("upstreamtest: Free of a block that is not out, %d bytes at offset %d", b.Len, b.Off))
	}
	delete(s.out, b.Region)
	s.Frees++
	s.Bytes -= l.bytes
	return l
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
