package main

import (
	"bytes"
	"net/http/httputil"
	"sync"
	"sync/atomic"

	arrow "github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc/mem"
)

// pooled is what a good programmer has today: sync.Pools, and those that libraries bring.
type pooled struct {
	blocks   powers[*counted]
	numbers  powers[*[]float64]
	buffers  sync.Pool
	arenas   sync.Pool
	canvases [layers]sync.Pool
}

// A counted is a block that goes back with its last owner.
type counted struct {
	all    []byte
	owners atomic.Int32
}

func (p *pooled) get(n int) (block, error) {
	c := p.blocks.get(n)
	if c == nil {
		c = &counted{all: make([]byte, roundUp(n))}
	}
	c.owners.Store(1)
	return block{bytes: c.all[:n], theirs: c}, nil
}

func (p *pooled) put(b block) error {
	if b.theirs.owners.Add(-1) == 0 {
		p.blocks.put(len(b.theirs.all), b.theirs)
	}
	return nil
}

func (p *pooled) part(b block, i, j int) (block, error) {
	b.theirs.owners.Add(1)
	return block{bytes: b.bytes[i:j], theirs: b.theirs}, nil
}

func (p *pooled) share(b block) (block, error) { return p.part(b, 0, len(b.bytes)) }

func (p *pooled) floats(n int) (vector, error) {
	v := p.numbers.get(n)
	if v == nil {
		m := make([]float64, roundUp(n))
		v = &m
	}
	return vector{values: (*v)[:n], theirs: v}, nil
}

func (p *pooled) putFloats(v vector) error { p.numbers.put(len(*v.theirs), v.theirs); return nil }

func (p *pooled) buffer() buffer {
	if b, ok := p.buffers.Get().(*bytes.Buffer); ok {
		return b
	}
	return new(bytes.Buffer)
}

func (p *pooled) done(b buffer) {
	b.(*bytes.Buffer).Reset()
	p.buffers.Put(b)
}

func (p *pooled) arena() arena {
	if a, ok := p.arenas.Get().(*chunk); ok {
		return a
	}
	return &chunk{p: p}
}

// canvas keeps for a layer what has become as large as the layer needs.
func (p *pooled) canvas(layer, n int) (canvas, error) {
	m, _ := p.canvases[layer].Get().(*[]byte)
	if m == nil || cap(*m) < n {
		made := make([]byte, n)
		m = &made
	}
	return canvas{layer: layer, pixels: (*m)[:n], theirs: m}, nil
}

func (p *pooled) putCanvas(c canvas) error {
	p.canvases[c.layer].Put(c.theirs)
	return nil
}

func (p *pooled) arrow() arrow.Allocator             { return columns{p} }
func (p *pooled) grpc() mem.BufferPool               { return mem.DefaultBufferPool() }
func (p *pooled) proxy(size int) httputil.BufferPool { return &copies{size: size} }
func (p *pooled) peaks() (managed, active int64)     { return 0, 0 }
func (p *pooled) close() error                       { return nil }
