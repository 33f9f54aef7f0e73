// Package helpers has functions of which facts tell other packages.
package helpers

import (
	"bytes"
	"sync"

	"github.com/bufslab/bufslab/slab"
)

var pool sync.Pool

// Put resets a buffer and puts it back, unless it is large.
func Put(b *bytes.Buffer) { // want Put:"releases 0"
	if b.Cap() > 1<<16 {
		return
	}
	b.Reset()
	pool.Put(b)
}

// Offer puts a buffer back, or refuses it: then its caller has it still.
func Offer(b *bytes.Buffer) error {
	if b.Cap() > 1<<16 {
		return bytes.ErrTooLarge
	}
	pool.Put(b)
	return nil
}

// Get returns a buffer.
func Get() *bytes.Buffer { return pool.Get().(*bytes.Buffer) } // want Get:"returns its own pooled object"

// End releases a buffer.
func End(b slab.PooledBuffer) { // want End:"releases 0"
	if err := b.Release(); err != nil {
		panic(err)
	}
}

// EndLater releases a buffer when it is told to.
func EndLater(b slab.PooledBuffer, told chan bool) { go endWhen(b, told) }

func endWhen(b slab.PooledBuffer, told chan bool) {
	<-told
	b.Release()
}

// Maybe releases a buffer or not.
func Maybe(b slab.PooledBuffer, yes bool) {
	if yes {
		b.Release()
	}
}

// Sum uses a buffer.
func Sum(b slab.PooledBuffer) (n int) { // want Sum:"borrows 0"
	for _, x := range b.Bytes() {
		n += int(x)
	}
	return n
}

// Open returns a buffer that its caller has to release.
func Open(p *slab.Pool) (slab.PooledBuffer, error) { // want Open:"returns its own buffer"
	b, err := p.Get(10)
	if err != nil {
		return slab.PooledBuffer{}, err
	}
	b.Bytes()[0] = 1
	return b, nil
}

var all []slab.PooledBuffer

// Keep keeps a buffer.
func Keep(b slab.PooledBuffer) { all = append(all, b) }

// A helper that keeps the bytes may find the buffer by them, as by Lookup: its caller has handed it over.
var shown []byte

func keepsBytes(b slab.PooledBuffer) { shown = b.Bytes() }

func handsToKeeper(p *slab.Pool) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	keepsBytes(b)
}

// PutEqual drops buffers of another size than those that are worth keeping: it ends all.
func PutEqual(b *bytes.Buffer) { // want PutEqual:"releases 0"
	if b.Cap() != 1<<16 {
		return
	}
	pool.Put(b)
}

// A helper that returns the bytes may have handed the buffer over with them, as to Lookup.
func bytesOf(b slab.PooledBuffer) []byte { return b.Bytes() }

func handsToReturned(p *slab.Pool) []byte {
	b, err := p.Get(10)
	if err != nil {
		return nil
	}
	return bytesOf(b)
}

// Touch uses the bytes, and does not keep them.
func Touch(b slab.PooledBuffer) { b.Bytes() } // want Touch:"borrows 0"

// ShowsInLiteral gives the bytes to code that returns.
func ShowsInLiteral(b slab.PooledBuffer, f func([]byte)) { // want ShowsInLiteral:"borrows 0"
	s := b.Bytes()
	func() { f(s) }()
}

// Sends and Launches give the bytes to code that goes on.
func Sends(b slab.PooledBuffer, out chan []byte) { out <- b.Bytes() }

func Launches(b slab.PooledBuffer, f func([]byte)) { go f(b.Bytes()) }

// OpenKept returns a buffer that the package has, too.
func OpenKept(p *slab.Pool) (slab.PooledBuffer, error) {
	b, err := p.Get(10)
	if err != nil {
		return slab.PooledBuffer{}, err
	}
	all = append(all, b)
	return b, nil
}

// What is found out of a function counts in those behind it that call it.
func innermost(b slab.PooledBuffer) { b.Release() }

func inner(b slab.PooledBuffer) { innermost(b) }

// Outer releases a buffer, by two calls.
func Outer(b slab.PooledBuffer) { inner(b) } // want Outer:"releases 0"

// Both releases one buffer at once, and the other by two calls.
func Both(a, b slab.PooledBuffer) { // want Both:"releases 0, releases 1"
	a.Release()
	inner(b)
}
