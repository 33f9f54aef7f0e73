package main

import (
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/bufslab/bufslab/slab"
)

// What Grow saves Apache Arrow, whose builders double their buffers in turns:
//
//	go test -run Builder -v .

// large is what a buffer has that grows where it is. Growth to less than 1 MiB copies: see
// docs/decisions.md.
const large = 1 << 20

// A grower is an arrow allocator over a pool. Its Reallocate is Grow.
type grower struct {
	pool *slab.Pool
	out  map[*byte]slab.PooledBuffer

	grown, moved           int
	grownBytes, movedBytes int
}

func (g *grower) Allocate(size int) []byte { return g.enter(g.pool.GetZeroed(size)) }

func (g *grower) enter(b slab.PooledBuffer, err error) []byte {
	if err != nil {
		panic(err)
	}
	m := b.Bytes()
	g.out[unsafe.SliceData(m)] = b
	return m
}

func (g *grower) leave(m []byte) slab.PooledBuffer {
	b := g.out[unsafe.SliceData(m)]
	delete(g.out, unsafe.SliceData(m))
	return b
}

func (g *grower) Reallocate(size int, m []byte) []byte {
	to := g.enter(g.leave(m).Grow(size))
	if size <= len(m) {
		return to
	}
	clear(to[len(m):])
	if len(m) < large {
		return to
	}
	g.grown++
	g.grownBytes += len(m)
	if unsafe.SliceData(to) != unsafe.SliceData(m) {
		g.moved++
		g.movedBytes += len(m)
	}
	return to
}

func (g *grower) Free(m []byte) {
	if err := g.leave(m).Release(); err != nil {
		panic(err)
	}
}

// numbers and words append 64 MiB to builders of a column each, row by row.
func numbers(g *grower, columns int) {
	rows(g, columns, 8, array.NewInt64Builder, func(b *array.Int64Builder) { b.Append(7) })
}

func words(g *grower, columns int) {
	rows(g, columns, 16, array.NewStringBuilder, func(b *array.StringBuilder) { b.Append("sixteen bytes of") })
}

func rows[B array.Builder](g *grower, columns, bytes int, open func(memory.Allocator) B, add func(B)) {
	builders := make([]B, columns)
	for i := range builders {
		builders[i] = open(g)
	}
	for range 64 << 20 / bytes / columns {
		for _, b := range builders {
			add(b)
		}
	}
	for _, b := range builders {
		b.Release()
	}
}

// At least so many of a hundred doublings of large builders copy nothing. The second of two rounds
// finds the memory of the first.
func TestBuilderDoublingsThatCopyNothing(t *testing.T) {
	for _, c := range []struct {
		line           string
		build          func(*grower, int)
		what           string
		columns, least int
	}{
		{"device=mmap", numbers, "int64", 1, 80},
		{"device=mmap", words, "string", 1, 80},
		{"device=mmap", numbers, "int64", 4, 80},
		{"device=mmap", words, "string", 4, 80},
		{"device=mmap,strategy=bestfit", numbers, "int64", 1, 80},
		{"device=mmap,strategy=bestfit", words, "string", 1, 80},
		{"device=heap", numbers, "int64", 1, 0},
	} {
		p := openLine(t, c.line)
		for round := 1; round <= 2; round++ {
			g := &grower{pool: p, out: map[*byte]slab.PooledBuffer{}}
			c.build(g, c.columns)
			share := 100 * float64(g.grown-g.moved) / float64(g.grown)
			t.Logf("%s: %d %s builders, round %d: %.1f %% of %d doublings, %d of %d bytes copied, peak %d MiB",
				c.line, c.columns, c.what, round, share, g.grown, g.movedBytes, g.grownBytes, p.Stats().PeakManagedBytes>>20)
			if round == 1 && share < float64(c.least) {
				t.Errorf("want %d %%", c.least)
			}
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

func openLine(t *testing.T, line string) *slab.Pool {
	c, err := slab.ParseConfig(line)
	if err != nil {
		t.Fatal(err)
	}
	p, err := slab.OpenConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
