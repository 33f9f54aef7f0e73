package upstreamtest

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// A Region is memory of exactly the size asked for, and of guards where it is aligned.
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

// RegionOf returns the region of a block of this package.
func RegionOf(b device.Block) *Region {
	if g, ok := b.Region.(*pageRegion); ok {
		return g.Region
	}
	return b.Region.(*Region)
}

// What memory holds that is not a block's.
const (
	guardByte = 0xEE
	freshByte = 0xDB // was never written
	// FreedByte is what aligned memory holds once it must not be read any more.
	FreedByte = 0xDD
)

// A Breach is a way to break the contract of [device.Allocator].
type Breach int

// The breaches; the zero one is none.
const (
	none Breach = iota
	NoRegion
	TooShort
	Misaligned
)

// GoString is how rapid prints what a program draws.
func (b Breach) GoString() string {
	return [...]string{"none", "no region", "too short", "misaligned"}[b]
}

// give returns a block of size bytes, which counts n of the source's own, and breaks the contract
// once if told to.
func (s *Source) give(size, n int) (lent, error) {
	how := s.BreakWith(none)
	if how == NoRegion {
		return lent{}, nil
	}
	more := 0
	if how == Misaligned {
		more = 1
	}
	b, err := s.fresh(size+more, n+more)
	if err != nil {
		return lent{}, err
	}
	l := lent{device.Block{Region: b.Region, Off: b.Off + more, Len: size}, b, int64(n)}
	if how == TooShort {
		l.given.Len--
	}
	if s.Under != nil {
		l.bytes = int64(b.Region.Size())
	}
	return l, nil
}

// BreakWith says how the next block breaks the contract, and returns what was said before and has not
// happened.
func (s *Source) BreakWith(b Breach) (before Breach) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, s.breach = s.breach, b
	return before
}

// fresh returns a block of Under, or size bytes of a region of n. Between guards no block is at
// offset 0, so that nothing can rely on that.
func (s *Source) fresh(size, n int) (device.Block, error) {
	switch {
	case s.Under != nil:
		return s.Under.Alloc(size)
	case s.Align == 0:
		r := NewRegion(n)
		if s.Host {
			r.Mem = make([]byte, (n+31)&^31)[:n:n]
		}
		return device.Block{Region: r, Len: size}, nil
	}
	g := max(s.Align, 64)
	r := NewRegion(n + 2*g)
	r.Mem = aligned(n+2*g, g)
	device.Fill(r.Mem, guardByte)
	device.Fill(r.Mem[g:g+size], freshByte)
	return device.Block{Region: r, Off: g, Len: size}, nil
}

// wipe panics if the guards beside b are broken. It overwrites the memory, so that a later read
// of it shows.
func (r *Region) wipe(b device.Block) {
	before, after := r.Mem[:b.Off], r.Mem[b.Off+b.Len:]
	if n := bytes.Count(before, []byte{guardByte}) + bytes.Count(after, []byte{guardByte}); n < len(r.Mem)-b.Len {
		panic(fmt.Sprintf("upstreamtest: something wrote beside the block of %d bytes", b.Len))
	}
	device.Fill(r.Mem, FreedByte)
}

// aligned returns n bytes whose address is a multiple of align.
func aligned(n, align int) []byte {
	m := make([]byte, n+align)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(m)))) & (align - 1)
	return m[skip : skip+n : skip+n]
}
