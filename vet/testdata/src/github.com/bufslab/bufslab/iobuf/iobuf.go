// Package iobuf is a stub for tests.
package iobuf

import (
	"io"

	"github.com/bufslab/bufslab/slab"
)

type Buffer struct{ p *slab.Pool }

func New(p *slab.Pool) *Buffer                              { return &Buffer{p} }
func (b *Buffer) Bytes() []byte                             { return nil }
func (b *Buffer) Len() int                                  { return 0 }
func (b *Buffer) Segments() [][]byte                        { return nil }
func (b *Buffer) Write(p []byte) (n int, err error)         { return 0, nil }
func (b *Buffer) ReadFrom(r io.Reader) (n int64, err error) { return 0, nil }
func (b *Buffer) Detach() (slab.PooledBuffer, error)        { return slab.PooledBuffer{}, nil }
func (b *Buffer) Reset()                                    {}
func (b *Buffer) Release()                                  {}
func (b *Buffer) AvailableBuffer() []byte                   { return nil }
func (b *Buffer) Body() (*Body, error)                      { return nil, nil }

type Body struct{ at int }

func NewBody(h slab.PooledBuffer) (*Body, error) { return nil, nil }
func (b *Body) Another() (io.ReadCloser, error)  { return nil, nil }
func (b *Body) Close() error                     { return nil }
func (b *Body) Read(p []byte) (n int, err error) { return 0, nil }
