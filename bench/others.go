package main

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/bytedance/gopkg/lang/mcache"
	"github.com/panjf2000/gnet/v2/pkg/pool/byteslice"
	"github.com/valyala/bytebufferpool"
	"google.golang.org/grpc/mem"
	offheap "modernc.org/memory"
)

// others are the pools that Go programs use today, and what they do without one.
// docs/benchmarks.md says who else was tried.
func others() []contender {
	return []contender{
		contend("sync.Pool", func() pool[*[]byte] { return new(syncPools) }),
		contend("mcache", func() pool[[]byte] { return &byteSlices{oneMalloc, mcache.Free} }),
		contend("gnet", func() pool[[]byte] { p := new(byteslice.Pool); return &byteSlices{p.Get, p.Put} }),
		contend("modernc", func() pool[unsafe.Pointer] { return new(modernc) }),
		contend("bytebufferpool", func() pool[*bytebufferpool.ByteBuffer] { return new(byteBuffers) }),
		contend("grpc", func() pool[*[]byte] { return &grpcPool{mem.DefaultBufferPool()} }),
		contend("arrow", func() pool[[]byte] { a := memory.NewGoAllocator(); return &byteSlices{a.Allocate, a.Free} }),
		contend("make", func() pool[[]byte] { return &byteSlices{oneMake, func([]byte) {}} }),
	}
}

// byteSlices is a pool whose handle is the slice.
type byteSlices struct {
	take func(int) []byte
	give func([]byte)
}

func (s *byteSlices) get(n int) ([]byte, []byte) { b := s.take(n); return b, b }
func (s *byteSlices) put(b []byte)               { s.give(b) }

func oneMalloc(n int) []byte { return mcache.Malloc(n) }
func oneMake(n int) []byte   { return make([]byte, n) }

// syncPools is the usual answer by hand: a sync.Pool for each power of two.
type syncPools [bits.UintSize]sync.Pool

func (s *syncPools) get(n int) (*[]byte, []byte) {
	class := bits.Len(uint(n - 1))
	b, _ := s[class].Get().(*[]byte)
	if b == nil {
		m := make([]byte, 1<<class)
		b = &m
	}
	return b, (*b)[:n]
}

func (s *syncPools) put(b *[]byte) { s[bits.Len(uint(cap(*b)-1))].Put(b) }

// byteBuffers is a bytebufferpool: it has no size classes, and learns one size.
type byteBuffers struct{ p bytebufferpool.Pool }

func (s *byteBuffers) get(n int) (*bytebufferpool.ByteBuffer, []byte) {
	b := s.p.Get()
	if cap(b.B) < n {
		b.B = make([]byte, n)
	}
	b.B = b.B[:n]
	return b, b.B
}

func (s *byteBuffers) put(b *bytebufferpool.ByteBuffer) { s.p.Put(b) }

// grpcPool clears what it hands out, up to the size of its class.
type grpcPool struct{ p mem.BufferPool }

func (s *grpcPool) get(n int) (*[]byte, []byte) { b := s.p.Get(n); return b, *b }
func (s *grpcPool) put(b *[]byte)               { s.p.Put(b) }

// modernc is memory outside the heap. It is not safe for concurrent use: hence the lock.
type modernc struct {
	mu sync.Mutex
	a  offheap.Allocator
}

func (s *modernc) get(n int) (unsafe.Pointer, []byte) {
	s.mu.Lock()
	p, err := s.a.UnsafeMalloc(n)
	s.mu.Unlock()
	if err != nil {
		panic(err)
	}
	return p, unsafe.Slice((*byte)(p), n)
}

func (s *modernc) put(p unsafe.Pointer) {
	s.mu.Lock()
	err := s.a.UnsafeFree(p)
	s.mu.Unlock()
	if err != nil {
		panic(err)
	}
}

func (s *modernc) Close() error { return s.a.Close() }
