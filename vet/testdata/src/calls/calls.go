// Package calls has what a call, a conversion or a load does with a buffer.
package calls

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"google.golang.org/grpc/mem"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/iobuf"
	"github.com/bufslab/bufslab/slab"
)

func note() {}

func sum(b slab.PooledBuffer) int { return len(b.Bytes()) }

// An error that is ignored counts where the buffer is used, in whatever way.

func copied(p *slab.Pool, in []byte) {
	s, _ := p.GetBytes(10) // want `error of GetBytes is ignored, and the byte slice is used`
	copy(s, in)
	p.Put(s)
}

func read(p *slab.Pool, r io.Reader) {
	s, _ := p.GetBytes(10) // want `error of GetBytes is ignored`
	r.Read(s)
	p.Put(s)
}

func written(p *slab.Pool) {
	s, _ := p.GetBytes(10) // want `error of GetBytes is ignored`
	s[0] = 1
	p.Put(s)
}

func converted(p *slab.Pool) string {
	s, _ := p.GetBytes(10) // want `error of GetBytes is ignored`
	defer p.Put(s)
	return string(s)
}

func usedOn(p *slab.Pool, stream device.Stream) {
	b, _ := p.Get(10) // want `error of Get is ignored`
	b.UsedOn(stream)
	b.Release()
}

func borrowed(p *slab.Pool) int {
	b, _ := p.Get(10) // want `error of Get is ignored`
	defer b.Release()
	return sum(b)
}

func onlyReleased(p *slab.Pool) {
	b, _ := p.Get(10)
	b.Release()
}

// Whether a call keeps a buffer.

func appendedTo(p *slab.Pool, all []byte) []byte {
	s, err := p.GetBytes(10) // want `byte slice of GetBytes is never released`
	if err != nil {
		return nil
	}
	return append(all, s...)
}

// A keeper has a Write of its own, and may keep what it is given.
type keeper interface {
	Write(s []byte) (n int, kept bool)
}

func givenToKeeper(p *slab.Pool, k keeper) {
	s, err := p.GetBytes(10)
	if err != nil {
		return
	}
	k.Write(s)
}

func methodIsReturned(p *slab.Pool) func() []byte {
	b, err := p.Get(10)
	if err != nil {
		return nil
	}
	return b.Bytes
}

func freedByMethodValue(pool mem.BufferPool) int {
	m := mem.Copy(nil, pool)
	free := m.Free
	free()
	return len(m.ReadOnlyData()) // want `counted memory is used after its Free`
}

// What ends a buffer.

func releasedByLiteral(b slab.PooledBuffer) {
	func(n int) {
		print(n)
		b.Release()
	}(3)
	b.Bytes() // want `buffer is used after its release`
}

func releaseMayFail(b slab.PooledBuffer) {
	if err := b.Release(); err != nil {
		note()
	}
	b.Bytes() // want `buffer is used after its Release`
}

func toldOfRelease(b slab.PooledBuffer, told func(error)) {
	err := b.Release()
	told(err)
	b.Release() // want `buffer is released again after Release`
}

func asksForTheSecond(b slab.PooledBuffer) bool {
	err := b.Release()
	if err == nil {
		err = b.Release()
	}
	b.Bytes()
	return errors.Is(err, slab.ErrReleased)
}

func asksInTheEnd(b slab.PooledBuffer, n int) bool {
	var err error
	for range n {
		err = b.Release()
	}
	return errors.Is(err, slab.ErrReleased)
}

type pair struct{ a, b int }

func total(v pair) int { return v.a + v.b }

// A pool of structs has a copy of what it is given.
func structIsCopied(pool *sync.Pool) int {
	v := pool.Get().(pair)
	pool.Put(v)
	return total(v)
}

// What uses a slice or an object that has gone back.

func text(p *slab.Pool, s []byte) string {
	p.Put(s)
	return string(s) // want `byte slice is used after its Put`
}

func capacity(p *slab.Pool, s []byte) int {
	p.Put(s)
	return len(s) + cap(s)
}

func address(p *slab.Pool, s []byte) uintptr {
	at := unsafe.Pointer(unsafe.SliceData(s))
	p.Put(s)
	return uintptr(at)
}

type object struct{ n int }

func overwritten(pool *sync.Pool) {
	o := pool.Get().(*object)
	pool.Put(o)
	*o = object{} // want `pooled object is used after its Put`
}

func loaded(pool *sync.Pool) object {
	o := pool.Get().(*object)
	pool.Put(o)
	return *o // want `pooled object is used after its Put`
}

func keptAfter(pool *sync.Pool, list []*object) {
	o := pool.Get().(*object)
	pool.Put(o)
	list[0] = o // want `pooled object is used after its Put`
}

func inVariable(pool *sync.Pool) (n int) {
	o := pool.Get().(*object)
	pool.Put(o)
	var last *object
	func() { n, last = 1, nil }()
	last = o
	return n + len([]*object{last}[:0])
}

func shownByLiteral(p *slab.Pool) {
	b, err := p.Get(10) // want `buffer of Get is never released`
	if err != nil {
		return
	}
	s := b.Bytes()
	show := func() { print(s[0]) }
	show()
}

func printed(p *slab.Pool, w io.Writer) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	fmt.Fprint(w, b)
}

func copiedBody(h slab.PooledBuffer, w io.Writer) error {
	body, _ := iobuf.NewBody(h) // want `error of NewBody is ignored, and the Body is used`
	defer body.Close()
	_, err := io.Copy(w, body)
	return err
}

// An allocator has no count, and no Release that a path could forget.
func allocatorOfBuilder(yes bool) {
	alloc := memory.NewGoAllocator()
	if yes {
		return
	}
	b := array.NewInt64Builder(alloc)
	defer b.Release()
	b.Append(1)
}
