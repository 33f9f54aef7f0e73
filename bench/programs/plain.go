package main

import (
	"bytes"
	"net/http/httputil"

	arrow "github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc/mem"
)

// plain makes everything, and leaves it to the collector.
type plain struct{}

func (plain) get(n int) (block, error)              { return block{bytes: make([]byte, n)}, nil }
func (plain) put(block) error                       { return nil }
func (plain) part(b block, i, j int) (block, error) { return block{bytes: b.bytes[i:j]}, nil }
func (plain) share(b block) (block, error)          { return b, nil }

func (plain) floats(n int) (vector, error) { return vector{values: make([]float64, n)}, nil }
func (plain) putFloats(vector) error       { return nil }

func (plain) buffer() buffer { return new(bytes.Buffer) }
func (plain) done(buffer)    {}

func (plain) arena() arena                       { return made{} }
func (plain) canvas(_, n int) (canvas, error)    { return canvas{pixels: make([]byte, n)}, nil }
func (plain) putCanvas(canvas) error             { return nil }
func (plain) arrow() arrow.Allocator             { return arrow.NewGoAllocator() }
func (plain) grpc() mem.BufferPool               { return mem.NopBufferPool{} }
func (plain) proxy(size int) httputil.BufferPool { return nil }
func (plain) peaks() (managed, active int64)     { return 0, 0 }
func (plain) close() error                       { return nil }

type made struct{}

func (made) points(n int) ([]point, error) { return make([]point, n), nil }
func (made) reset()                        {}
func (made) release()                      {}
