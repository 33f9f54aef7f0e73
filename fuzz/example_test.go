package fuzz_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz"
	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/slab"
)

// A pile is a strategy of a program's own. It keeps freed blocks by size.
type pile struct {
	upstream slab.Allocator
	held     map[int][]device.Block
	out      map[device.Block]bool
	stopped  bool
}

func newPile(upstream slab.Allocator) slab.Allocator {
	return &pile{upstream: upstream, held: map[int][]device.Block{}, out: map[device.Block]bool{}}
}

func (p *pile) Alloc(size int) (b device.Block, err error) {
	if size == 0 {
		return b, nil
	}
	if k := len(p.held[size]); k > 0 {
		b, p.held[size] = p.held[size][k-1], p.held[size][:k-1]
	} else if b, err = p.upstream.Alloc(size); errors.Is(err, device.ErrOutOfMemory) {
		p.FreeHeld()
		b, err = p.upstream.Alloc(size)
	}
	if err == nil {
		p.out[b] = true
	}
	return b, err
}

func (p *pile) Free(b device.Block) {
	switch {
	case b == device.Block{}:
		return
	case !p.out[b]:
		panic(fmt.Sprintf("pile: Free of %d bytes that are not out", b.Len))
	}
	delete(p.out, b)
	p.held[b.Len] = append(p.held[b.Len], b)
	if p.stopped {
		p.FreeHeld()
	}
}

func (p *pile) FreeHeld() {
	for size, blocks := range p.held {
		for _, b := range blocks {
			p.upstream.Free(b)
		}
		delete(p.held, size)
	}
}

func (p *pile) StopHolding() {
	p.stopped = true
	p.FreeHeld()
}

// Three lines verify it. The check hands newPile an upstream of its own.
func ExampleCheckAllocator() {
	_ = func(t *testing.T) { // func TestPile(t *testing.T)
		fuzz.CheckAllocator(t, newPile)
	}
}

// The test of the example: a strategy as simple as that passes.
func TestPile(t *testing.T) {
	fuzz.CheckAllocator(t, newPile)
}

// A pool of keyed buffers, as its program configures it.
func ExampleCheckGrowPool() {
	_ = func(t *testing.T) { // func TestBuffers(t *testing.T)
		fuzz.CheckGrowPool(t, func(memory *slab.Pool) *growpool.Pool[string] {
			return growpool.New[string](memory, growpool.Config{Growth: growpool.Steps(16)})
		})
	}
}
