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
