package main

import (
	"io"
	"net/http/httputil"

	arrow "github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc/mem"

	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/slab"
)

// A memory is where all buffers of a program come from. Each kind does what a program that
// uses it would do: the handles below have a field for each, so that none pays for another.
type memory interface {
	get(n int) (block, error)
	put(block) error
	part(b block, i, j int) (block, error) // one more owner, of b.bytes[i:j]
	share(b block) (block, error)          // one more owner, of all of it

	floats(n int) (vector, error)
	putFloats(vector) error

	buffer() buffer
	done(buffer)

	arena() arena
	canvas(layer, n int) (canvas, error) // of a layer, whose sizes are alike
	putCanvas(canvas) error

	arrow() arrow.Allocator
	grpc() mem.BufferPool
	proxy(size int) httputil.BufferPool

	peaks() (managed, active int64) // bytes at most
	close() error                   // says what was not given back
}

// A block is some bytes, whose contents are undefined at first.
type block struct {
	bytes  []byte
	ours   slab.PooledBuffer
	theirs *counted
}

// A vector is a block of numbers.
type vector struct {
	values []float64
	ours   slab.Slice[float64]
	theirs *[]float64
}

// A canvas is a block that its layer's next one will have, too.
type canvas struct {
	layer  int
	pixels []byte
	ours   *growpool.Lease[byte]
	theirs *[]byte
}

// A buffer grows as it is written to.
type buffer interface {
	io.ReadWriter
	io.ReaderFrom
	io.WriterTo
	Bytes() []byte
	Len() int
}

// An arena has points that end together.
type arena interface {
	points(n int) ([]point, error)
	reset()
	release()
}

type point struct{ x, y int32 }

// open returns the memory of a kind: a name, or a line of configuration.
func open(kind string) (memory, error) {
	switch kind {
	case "go":
		return plain{}, nil
	case base:
		return new(pooled), nil
	case "heap", "mmap":
		kind = "device=" + kind
	}
	c, err := slab.ParseConfig(kind)
	if err != nil {
		return nil, err
	}
	p, err := slab.OpenConfig(c)
	if err != nil {
		return nil, err
	}
	return &ours{p, growpool.New[int](p, growpool.Config{Private: true})}, nil
}
