package pageheap

import (
	"fmt"
	"math"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/upstreamtest"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

const page = upstreamtest.Page

type (
	source = upstreamtest.Source
	pages  = upstreamtest.Pages
)

// A program allocates blocks of a heap and frees them.
type program struct {
	*Heap
	active int64 // bytes as asked for
}

// start returns a program on a heap with the given options, or their defaults:
// for MaxHeld that is no bound, and -1 is nothing.
func start(up device.Allocator, o Options) *program {
	if o.Align == 0 {
		o.Align = 16
	}
	if o.MissTarget == 0 {
		o.MissTarget = 0.01
	}
	switch o.MaxHeld {
	case 0:
		o.MaxHeld = math.MaxInt64
	case -1:
		o.MaxHeld = 0
	}
	return &program{Heap: New(upstream.Check(up, true, 1), o)}
}

func (p *program) alloc(size int) (device.Block, error) {
	return p.allocBy(size, p.Heap.Alloc)
}

// allocRoomy reports no room where there is no place to grow.
func (p *program) allocRoomy(size int) (device.Block, error) {
	return p.allocBy(size, func(size int) (int32, error) {
		if i := p.AllocRoomy(size); i != none {
			return i, nil
		}
		return none, device.ErrOutOfMemory
	})
}

func (p *program) allocBy(size int, alloc func(size int) (int32, error)) (device.Block, error) {
	p.Lock()
	defer p.Unlock()
	p.Grew(size)
	i, err := alloc(size)
	if err != nil {
		p.Shrank(size)
		return device.Block{}, err
	}
	p.active += int64(size)
	return p.Block(i, 0, size), nil
}

func (p *program) mustAlloc(t testing.TB, size int) device.Block {
	t.Helper()
	b, err := p.alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (p *program) free(b device.Block) {
	if p.freeLocked(b) {
		p.ReleaseOverHeld()
	}
}

func (p *program) freeLocked(b device.Block) (over bool) {
	p.Lock()
	defer p.Unlock()
	i, off := p.Locate(b, 0)
	if i == none || off != 0 || p.Size(i) != b.Len {
		panic(fmt.Sprintf("%+v is in extent %d, offset %d", b, i, off))
	}
	p.Heap.Free(i)
	p.Shrank(b.Len)
	p.active -= int64(b.Len)
	return p.OverHeld()
}

// growBlock makes a block some times as long where that goes, unless it is refused then. A
// doubled one need not stay where it is.
func (p *program) growBlock(t *testing.T, b *device.Block, times int, take bool) {
	p.Lock()
	defer p.Unlock()
	i, _ := p.Locate(*b, 0)
	was, size := *p.at(i), b.Len*times
	if !p.Extend(i, size, times != 2, func() bool { return take }) {
		if now := *p.at(i); now.len != was.len || now.excess != was.excess {
			t.Errorf("not extended, but %+v became %+v", was, now)
		}
		return
	}
	if !take || p.at(i).off != was.off {
		t.Errorf("%+v became %+v", was, *p.at(i))
	}
	p.Shrank(b.Len)
	p.Grew(size)
	p.active += int64(size - b.Len)
	*b = p.Block(i, 0, size)
}

// giveUpBlock puts a block in quarantine.
func (p *program) giveUpBlock(b device.Block) {
	p.Lock()
	i, _ := p.Locate(b, 0)
	p.Shrank(b.Len)
	p.active -= int64(b.Len)
	p.Unlock()
	p.Quarantine(i)
}

// mustCheck verifies the heap and compares it with what its upstream has given.
func (p *program) mustCheck(t testing.TB, up *source) {
	t.Helper()
	if err := p.check(); err != nil {
		t.Fatal(err)
	}
	if p.managed != up.Bytes {
		t.Fatalf("%d bytes managed, upstream gave %d", p.managed, up.Bytes)
	}
}

// on returns what a heap draws on: ranges, or only segments.
func on(up *pages, segments bool) device.Allocator {
	if segments {
		return &up.Source
	}
	return up
}

// takeAt removes an element of a slice, in no order.
func takeAt[T any](list *[]T, i int) (x T) {
	l := *list
	x, l[i] = l[i], l[len(l)-1]
	*list = l[:len(l)-1]
	return x
}

// freeAll frees blocks.
func (p *program) freeAll(blocks []device.Block) {
	for _, b := range blocks {
		p.free(b)
	}
}
