package fuzz_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz"
	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/slab"
)

// A pile is a strategy of a program's own. It keeps freed blocks by size.
type pile struct {
	upstream slab.Allocator

	mu      sync.Mutex
	held    map[int][]device.Block
	out     map[device.Block]bool
	usage   slab.Usage
	stopped bool
}

func newPile(upstream slab.Allocator, _ slab.Config) slab.Allocator {
	return &pile{upstream: upstream, held: map[int][]device.Block{}, out: map[device.Block]bool{}}
}

// From here on strategy=pile works in every configuration.
func init() { slab.Register("pile", newPile) }

func (p *pile) Alloc(size int) (b device.Block, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if size <= 0 {
		return b, sizeError(size)
	}
	if k := len(p.held[size]); k > 0 {
		b, p.held[size] = p.held[size][k-1], p.held[size][:k-1]
		p.hold(-1, size)
	} else if b, err = p.upstream.Alloc(size); errors.Is(err, device.ErrOutOfMemory) {
		p.freeHeld()
		b, err = p.upstream.Alloc(size)
	}
	if err == nil {
		p.out[b] = true
		p.usage.ActiveBlocks++
		p.usage.ActiveBytes += int64(size)
	}
	return b, err
}

func sizeError(size int) error {
	if size == 0 {
		return nil
	}
	return fmt.Errorf("pile: %d bytes: %w", size, slab.ErrSize)
}

func (p *pile) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.out[b] {
		panic(fmt.Sprintf("pile: Free of %d bytes that are not out", b.Len))
	}
	delete(p.out, b)
	p.usage.ActiveBlocks--
	p.usage.ActiveBytes -= int64(b.Len)
	p.held[b.Len] = append(p.held[b.Len], b)
	p.hold(1, b.Len)
	if p.stopped {
		p.freeHeld()
	}
}

func (p *pile) hold(blocks, size int) {
	p.usage.HeldBlocks += int64(blocks)
	p.usage.HeldBytes += int64(blocks) * int64(size)
}

// FreeHeld makes a pile a slab.Holder, with StopHolding.
func (p *pile) FreeHeld() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.freeHeld()
}

func (p *pile) freeHeld() {
	for size, blocks := range p.held {
		for _, b := range blocks {
			p.upstream.Free(b)
		}
		p.hold(-len(blocks), size)
		delete(p.held, size)
	}
}

func (p *pile) StopHolding() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	p.freeHeld()
}

// Usage makes a pile a slab.UsageReporter.
func (p *pile) Usage() slab.Usage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.usage
}

// A few lines verify it. The check hands newPile an upstream of its own.
func ExampleCheckAllocator() {
	_ = func(t *testing.T) { // func TestPile(t *testing.T)
		fuzz.CheckAllocator(t, func(upstream slab.Allocator) slab.Allocator {
			return newPile(upstream, slab.Config{})
		})
	}
}

// A pool of keyed buffers, as its program configures it.
func ExampleCheckGrowPool() {
	_ = func(t *testing.T) { // func TestBuffers(t *testing.T)
		fuzz.CheckGrowPool(t, func(memory *slab.Pool) *growpool.Pool[string] {
			return growpool.New[string](memory, growpool.Config{Growth: growpool.Steps(16)})
		})
	}
}
