// Package slab is a stub for tests: its functions have the types of the real ones.
package slab

import (
	"context"
	"errors"

	"github.com/bufslab/bufslab/device"
)

type Pool struct{}

func MustOpen(string) *Pool { return &Pool{} }

func (p *Pool) Get(size int) (PooledBuffer, error)       { return PooledBuffer{}, nil }
func (p *Pool) GetZeroed(size int) (PooledBuffer, error) { return PooledBuffer{}, nil }
func (p *Pool) GetContext(ctx context.Context, size int) (PooledBuffer, error) {
	return PooledBuffer{}, nil
}
func (p *Pool) GetOn(size int, s device.Stream) (PooledBuffer, error) { return PooledBuffer{}, nil }
func (p *Pool) GetBytes(size int) ([]byte, error)                     { return nil, nil }
func (p *Pool) GetBytesContext(ctx context.Context, size int) ([]byte, error) {
	return nil, nil
}
func (p *Pool) GetAll(ctx context.Context, sizes ...int) ([]PooledBuffer, error) {
	return nil, nil
}
func (p *Pool) Put(b []byte) error                   { return nil }
func (p *Pool) Lookup(b []byte) (PooledBuffer, bool) { return PooledBuffer{}, false }
func (p *Pool) Close() error                         { return nil }

type PooledBuffer struct{ slot *int }

func (b PooledBuffer) Block() device.Block                    { return device.Block{} }
func (b PooledBuffer) Bytes() []byte                          { return nil }
func (b PooledBuffer) Len() int                               { return 0 }
func (b PooledBuffer) Grow(n int) (c PooledBuffer, err error) { return b, nil }
func (b PooledBuffer) Release() error                         { return nil }
func (b PooledBuffer) Share() (PooledBuffer, error)           { return b, nil }
func (b PooledBuffer) Slice(i, j int) (PooledBuffer, error)   { return b, nil }
func (b PooledBuffer) UsedOn(s device.Stream) error           { return nil }
func (b PooledBuffer) With(f func([]byte)) error              { return nil }

type Slice[T any] struct{ b PooledBuffer }

func Make[T any](p *Pool, n int) (Slice[T], error) { return Slice[T]{}, nil }
func (s Slice[T]) Len() int                        { return 0 }
func (s Slice[T]) Release() error                  { return nil }
func (s Slice[T]) Slice() []T                      { return nil }

type Buffer struct{ p *Pool }

func NewBuffer(p *Pool) *Buffer                     { return &Buffer{p} }
func (b *Buffer) Bytes() []byte                     { return nil }
func (b *Buffer) Write(p []byte) (n int, err error) { return 0, nil }
func (b *Buffer) Detach() (PooledBuffer, error)     { return PooledBuffer{}, nil }
func (b *Buffer) Reset()                            {}
func (b *Buffer) Release()                          {}

type Arena struct{ p *Pool }

func NewArena(p *Pool) *Arena                    { return &Arena{p} }
func (a *Arena) Get(n int) ([]byte, error)       { return nil, nil }
func (a *Arena) Reset()                          {}
func (a *Arena) Release()                        {}
func MakeIn[T any](a *Arena, n int) ([]T, error) { return nil, nil }

type Ref struct{ pool, number uint64 }

func (r Ref) Get() (PooledBuffer, error) { return PooledBuffer{}, nil }

var ErrReleased = errors.New("released")
