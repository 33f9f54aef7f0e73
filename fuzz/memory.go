package fuzz

import (
	"bytes"
	"fmt"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// memory is host memory for an upstream: every block begins within a region
// of its own, between guards, so that nothing rests on an offset of 0 and
// whoever writes beside a block is found out.
type memory struct {
	align  int
	ranges int // bytes that a range gets at most; 0: there are none
}

const (
	pageBytes = 4096
	guardByte = 0xEE
	freshByte = 0xDB // of memory that nobody has written yet
	freedByte = 0xDD // of memory that nobody may read any more
)

// A memoryRegion is told from others by its address.
type memoryRegion struct {
	m     []byte
	guard int // bytes before and after the block; 0 in a range
}

func (r *memoryRegion) Size() int     { return len(r.m) }
func (r *memoryRegion) Bytes() []byte { return r.m }

func (m *memory) Alloc(size int) (device.Block, error) {
	g := max(m.align, 64)
	r := &memoryRegion{aligned(size+2*g, g), g}
	fill(r.m, guardByte)
	fill(r.m[g:g+size], freshByte)
	return device.Block{Region: r, Off: g, Len: size}, nil
}

// Free looks after the guards. The memory is spoilt, so that contents tell
// who still reads it.
func (m *memory) Free(b device.Block) {
	r := b.Region.(*memoryRegion)
	guard := bytes.Repeat([]byte{guardByte}, r.guard)
	if !bytes.Equal(r.m[:r.guard], guard) || !bytes.Equal(r.m[len(r.m)-r.guard:], guard) {
		panic(fmt.Sprintf("fuzz: something wrote beside the upstream's block of %d bytes", b.Len))
	}
	fill(r.m, freedByte)
}

// Reserve gives few addresses, so that programs run out of them.
func (m *memory) Reserve(size int) (device.Range, error) {
	if m.ranges == 0 {
		return nil, fmt.Errorf("fuzz: upstream cannot extend regions: %w", device.ErrUnavailable)
	}
	size = min(size, m.ranges) &^ (pageBytes - 1)
	if size == 0 {
		return nil, fmt.Errorf("fuzz: Reserve of less than a page of %d bytes: %w", pageBytes, device.ErrSize)
	}
	return &memoryRange{&memoryRegion{m: aligned(size, max(m.align, pageBytes))}}, nil
}

type memoryRange struct{ r *memoryRegion }

func (g *memoryRange) Region() device.Region { return g.r }
func (g *memoryRange) Page() int             { return pageBytes }

func (g *memoryRange) Commit(off, n int) error { return nil }

func (g *memoryRange) Decommit(off, n int) error {
	fill(g.r.m[off:off+n], freedByte)
	return nil
}

func (g *memoryRange) Close() error { return g.Decommit(0, len(g.r.m)) }

// aligned returns n bytes whose address is a multiple of align.
func aligned(n, align int) []byte {
	m := make([]byte, n+align)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(m)))) & (align - 1)
	return m[skip : skip+n : skip+n]
}

func fill(m []byte, v byte) {
	for i := range m {
		m[i] = v
	}
}
