package main

import (
	"sync"
	"unsafe"
)

// A chunk is an arena by hand: points are cut from a slice until it ends.
type chunk struct {
	p    *pooled
	all  []point
	used int
}

// points leaves a slice that is too short to the goroutines that have parts of it.
func (c *chunk) points(n int) ([]point, error) {
	if c.used+n > len(c.all) {
		c.all, c.used = make([]point, max(2*len(c.all), n, 1024)), 0
	}
	cut := c.all[c.used : c.used+n : c.used+n]
	c.used += n
	clear(cut)
	return cut, nil
}

func (c *chunk) reset()   { c.used = 0 }
func (c *chunk) release() { c.reset(); c.p.arenas.Put(c) }

// columns is an allocator of arrow-go over sync.Pools. Arrow gives back slices, so what it
// gets is the whole block: its capacity is the class.
type columns struct{ p *pooled }

func (a columns) Allocate(n int) []byte {
	if n == 0 {
		return []byte{}
	}
	b := a.fresh(n)
	clear(b)
	return b
}

func (a columns) fresh(n int) []byte {
	if first := slabs.get(n); first != nil {
		return unsafe.Slice(first, roundUp(n))[:n]
	}
	return make([]byte, n, roundUp(n))
}

// slabs have the first byte of each, as a pointer takes no memory in a sync.Pool.
var slabs powers[*byte]

func (a columns) Reallocate(n int, b []byte) []byte {
	if n <= cap(b) {
		clear(b[len(b):max(n, len(b))])
		return b[:n]
	}
	larger := a.Allocate(n)
	copy(larger, b)
	a.Free(b)
	return larger
}

func (a columns) Free(b []byte) {
	if cap(b) > 0 {
		slabs.put(cap(b), unsafe.SliceData(b))
	}
}

// copies are a proxy's buffers in a sync.Pool, as net/http/httputil proposes.
type copies struct {
	sync.Pool
	size int
}

func (c *copies) Get() []byte {
	if b, ok := c.Pool.Get().(*[]byte); ok {
		return *b
	}
	return make([]byte, c.size)
}

func (c *copies) Put(b []byte) { c.Pool.Put(&b) }
