package upstream

import (
	"bytes"
	"fmt"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// Memory is host memory, the source of an upstream that has no device. Every
// block begins within a region of its own, between guards. So nothing can rely
// on an offset of 0, and Free finds out what was written beside a block.
type Memory struct {
	Align      int // of every address
	RangeBytes int // that a range gets at most; 0: there are none
}

var _ device.Reserver = (*Memory)(nil)

// PageBytes is the page of a range.
const PageBytes = 4096

const (
	guardByte = 0xEE
	freshByte = 0xDB // of memory that was never written
	// FreedByte is what memory holds once it must not be read any more.
	FreedByte = 0xDD
)

// A memoryRegion is told from others by its address.
type memoryRegion struct {
	m     []byte
	guard int // bytes before and after the block; 0 in a range
}

func (r *memoryRegion) Size() int     { return len(r.m) }
func (r *memoryRegion) Bytes() []byte { return r.m }

// Foreign returns a block of n bytes that no upstream has given.
func Foreign(n int) device.Block {
	return device.Block{Region: &memoryRegion{m: make([]byte, n)}, Len: n}
}

// Alloc puts a block between guards.
func (m *Memory) Alloc(size int) (device.Block, error) {
	g := max(m.Align, 64)
	r := &memoryRegion{aligned(size+2*g, g), g}
	device.Fill(r.m, guardByte)
	device.Fill(r.m[g:g+size], freshByte)
	return device.Block{Region: r, Off: g, Len: size}, nil
}

// Free panics if a guard is broken. It overwrites the memory, so that a later
// read of it shows.
func (m *Memory) Free(b device.Block) {
	r := b.Region.(*memoryRegion)
	guard := bytes.Repeat([]byte{guardByte}, r.guard)
	if !bytes.Equal(r.m[:r.guard], guard) || !bytes.Equal(r.m[len(r.m)-r.guard:], guard) {
		panic(fmt.Sprintf("fuzz: something wrote beside the upstream's block of %d bytes", b.Len))
	}
	device.Fill(r.m, FreedByte)
}

// Reserve gives few addresses, so that programs run out of them.
func (m *Memory) Reserve(size int) (device.Range, error) {
	if m.RangeBytes == 0 {
		return nil, fmt.Errorf("fuzz: upstream cannot extend regions: %w", device.ErrUnavailable)
	}
	size = min(size, m.RangeBytes) &^ (PageBytes - 1)
	if size == 0 {
		return nil, fmt.Errorf("fuzz: Reserve of less than a page of %d bytes: %w", PageBytes, device.ErrSize)
	}
	return &memoryRange{&memoryRegion{m: aligned(size, max(m.Align, PageBytes))}}, nil
}

type memoryRange struct{ r *memoryRegion }

func (g *memoryRange) Region() device.Region { return g.r }
func (g *memoryRange) Page() int             { return PageBytes }

func (g *memoryRange) Commit(off, n int) error { return nil }

func (g *memoryRange) Decommit(off, n int) error {
	device.Fill(g.r.m[off:off+n], FreedByte)
	return nil
}

func (g *memoryRange) Close() error { return g.Decommit(0, len(g.r.m)) }

// aligned returns n bytes whose address is a multiple of align.
func aligned(n, align int) []byte {
	m := make([]byte, n+align)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(m)))) & (align - 1)
	return m[skip : skip+n : skip+n]
}
