package main

import (
	"sync"
	"unsafe"

	"github.com/bufslab/bufslab/slab"
)

// An adapter makes a pool an arrow memory.Allocator. Arrow frees by slice, so
// it finds the handle of a slice by its first byte.
//
// Arrow wants zeroed memory that begins on a multiple of 64.
type adapter struct {
	pool    *slab.Pool
	mu      sync.Mutex
	handles map[*byte]slab.PooledBuffer
}

func newAdapter(p *slab.Pool) *adapter {
	return &adapter{pool: p, handles: map[*byte]slab.PooledBuffer{}}
}

const alignment = 64

func (a *adapter) Allocate(size int) []byte {
	if size == 0 {
		return nil
	}
	// Not every strategy aligns small blocks to 64, so ask for room to do it here.
	h, err := a.pool.GetZeroed(size + alignment - 1)
	if err != nil {
		panic(err) // memory.Allocator has no other way to say it
	}
	m := h.Bytes()
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(m)))) & (alignment - 1)
	m = m[skip : skip+size : skip+size]
	a.mu.Lock()
	defer a.mu.Unlock()
	a.handles[&m[0]] = h
	return m
}

func (a *adapter) Reallocate(size int, b []byte) []byte {
	if size == len(b) {
		return b
	}
	m := a.Allocate(size)
	copy(m, b)
	a.Free(b)
	return m
}

func (a *adapter) Free(b []byte) {
	if len(b) == 0 {
		return
	}
	a.mu.Lock()
	h, ok := a.handles[&b[0]]
	delete(a.handles, &b[0])
	a.mu.Unlock()
	if !ok {
		panic("record-arrow: Free of memory that was not allocated here")
	}
	if err := h.Release(); err != nil {
		panic(err)
	}
}
