// Package memory is a stub for tests.
package memory

type Buffer struct{ buf []byte }

func NewResizableBuffer(mem any) *Buffer { return &Buffer{} }
func (b *Buffer) Retain()                {}
func (b *Buffer) Release()               {}
func (b *Buffer) Bytes() []byte          { return b.buf }
func (b *Buffer) Resize(n int)           {}

type GoAllocator struct{}

func NewGoAllocator() *GoAllocator { return &GoAllocator{} }
func (*GoAllocator) Free(b []byte) {}
