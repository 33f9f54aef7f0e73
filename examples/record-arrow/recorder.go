package main

import (
	"sync"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/bufslab/bufslab/trace"
)

// A recorder is a memory.Allocator that writes a row for everything that
// passes through. A reallocation is an allocation and a free, as its copy
// needs both blocks.
type recorder struct {
	next memory.Allocator
	mu   sync.Mutex
	w    *trace.Writer
	ids  map[*byte]uint64
	last uint64
}

func (r *recorder) Allocate(size int) []byte {
	b := r.next.Allocate(size)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.made(b)
	return b
}

func (r *recorder) Reallocate(size int, b []byte) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.next.Reallocate(size, b)
	if len(m) > 0 && len(b) > 0 && &m[0] == &b[0] {
		return m
	}
	r.made(m)
	r.gone(b)
	return m
}

func (r *recorder) Free(b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone(b)
	r.next.Free(b)
}

// made and gone leave errors to Close of the Writer, which reports the first.

func (r *recorder) made(b []byte) {
	if len(b) == 0 {
		return
	}
	r.ids[&b[0]] = r.last
	r.w.Write(trace.Op{Kind: trace.Alloc, ID: r.last, Size: len(b)})
	r.last++
}

func (r *recorder) gone(b []byte) {
	if len(b) == 0 {
		return
	}
	r.w.Write(trace.Op{Kind: trace.Free, ID: r.ids[&b[0]], Size: len(b)})
	delete(r.ids, &b[0])
}
