// Package others has pools of other libraries.
package others

import (
	"bytes"
	"io"
	"net/http/httputil"
	"sync"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/bufslab/bufslab/arena"
	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/iobuf"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
	"github.com/valyala/bytebufferpool"
	"google.golang.org/grpc/mem"
)

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func putThenBytes(w io.Writer) {
	b := buffers.Get().(*bytes.Buffer)
	b.WriteString("x")
	data := b.Bytes()
	buffers.Put(b)
	w.Write(data) // want `slice of the pooled object is used after its Put`
}

func returnsBytes() []byte {
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	b.Reset()
	return b.Bytes() // want `slice of the pooled object is returned, and the deferred Put ends that before`
}

func returnsString() string {
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	b.Reset()
	return b.String()
}

func resetAfterPut() {
	b := buffers.Get().(*bytes.Buffer)
	buffers.Put(b)
	b.Reset() // want `pooled object is used after its Put`
}

func putTwice(bad bool) {
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	if bad {
		buffers.Put(b) // want `pooled object is released here and again by the Put deferred`
		return
	}
}

type parser struct{ n int }

var parsers sync.Pool

func field() int {
	p, ok := parsers.Get().(*parser)
	if !ok {
		p = new(parser)
	}
	parsers.Put(p)
	return p.n // want `pooled object is used after its Put`
}

var slices sync.Pool

func pointer() byte {
	p := slices.Get().(*[]byte)
	m := *p
	slices.Put(p)
	return m[0] // want `pooled object is used after its Put`
}

func stolen() []byte {
	p := slices.Get().(*[]byte)
	m := *p
	*p = nil
	slices.Put(p)
	return m
}

func counted(refs int) {
	p := parsers.Get().(*parser) // want `pooled object of Get is not released on the way to the end of the function`
	if refs == 0 {
		parsers.Put(p)
		p = nil
	}
	if p != nil {
		p.n++
	}
}

func orNil(bad bool) *parser {
	p := parsers.Get().(*parser)
	if bad {
		parsers.Put(p)
		p = nil
	}
	return p
}

type encoder struct {
	bytes.Buffer
	out bytes.Buffer
}

var encoders sync.Pool

func encoded() []byte {
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	return e.Bytes() // want `slice of the pooled object is returned`
}

func encodedOwn() []byte {
	e := encoders.Get().(*encoder)
	defer func() {
		e.out = *bytes.NewBuffer(nil)
		encoders.Put(e)
	}()
	return e.out.Bytes()
}

func emptied() []byte {
	b := buffers.Get().(*bytes.Buffer)
	defer func() {
		*b = bytes.Buffer{}
		buffers.Put(b)
	}()
	return b.Bytes()
}

func aCopy() int {
	p := parsers.Get().(parser)
	parsers.Put(p)
	return p.n
}

func valyala(w io.Writer) {
	b := bytebufferpool.Get()
	b.WriteString("x")
	bytebufferpool.Put(b)
	w.Write(b.B) // want `pooled object is used after its Put`
}

func valyalaBytes() []byte {
	b := bytebufferpool.Get()
	defer bytebufferpool.Put(b)
	b.B = append(b.B, 1)
	return b.B // want `slice of the pooled object is returned`
}

func valyalaStolen() []byte {
	b := bytebufferpool.Get()
	defer bytebufferpool.Put(b)
	m := b.B
	b.B = nil
	return m
}

func grpc(data []byte, pool mem.BufferPool) byte {
	b := mem.Copy(data, pool)
	m := b.ReadOnlyData()
	b.Free()
	return m[0] // want `slice of the counted memory is used after its Free`
}

func grpcRef(data []byte, pool mem.BufferPool) byte {
	b := mem.Copy(data, pool)
	b.Ref()
	b.Free()
	m := b.ReadOnlyData()
	defer b.Free()
	return m[0]
}

func grpcPool(pool mem.BufferPool) byte {
	b := pool.Get(10)
	pool.Put(b)
	return (*b)[0] // want `pooled object is used after its Put`
}

func proxy(pool httputil.BufferPool) byte {
	b := pool.Get()
	pool.Put(b)
	return b[0] // want `pooled object is used after its Put`
}

func writer(p *slab.Pool) byte {
	b := iobuf.New(p)
	defer b.Release()
	b.Write([]byte("x"))
	m := b.Bytes()
	b.Reset()
	b.Write([]byte("y"))
	return m[0] // want `slice of the Buffer is used after its Reset`
}

func pieces(p *slab.Pool, n int) (sum int) {
	a := arena.New(p)
	defer a.Release()
	for range n {
		m, err := arena.Make[int](a, 10)
		if err != nil {
			return 0
		}
		sum += m[0]
		a.Reset()
	}
	return sum
}

func piecesAfter(p *slab.Pool) byte {
	a := slab.NewArena(p)
	defer a.Release()
	m, err := a.Get(10)
	if err != nil {
		return 0
	}
	a.Reset()
	return m[0] // want `slice of the Arena is used after its Reset`
}

func lease(l *growpool.Lease[int]) int {
	m := l.Slice()
	l.Release()
	return m[0] // want `slice of the buffer is used after its Release`
}

func sides(p *unified.Pool) error {
	b, err := unified.Acquire[int](p, 10)
	if err != nil {
		return err
	}
	b.Release()
	return b.Fill(1) // want `buffer is used after its Release`
}

func arrowAllocator(b []byte, ok bool) {
	if a := memory.NewGoAllocator(); ok {
		a.Free(b)
	}
}

func grpcMade(pool mem.BufferPool, ok bool) mem.Buffer {
	b := pool.Get(10)
	if ok {
		pool.Put(b)
		return nil
	}
	return mem.NewBuffer(b, pool)
}
