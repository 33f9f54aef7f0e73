// Package sometimes has functions that release their argument on every path, or not on every path, and calls of each.
package sometimes

import (
	"errors"

	"google.golang.org/grpc/mem"

	"github.com/bufslab/bufslab/slab"
)

func note() {}

func length() int { return 3 }

// onYes leaves the buffer where yes is false, behind a branch of its own.
func onYes(b slab.PooledBuffer, yes bool) {
	if yes {
		b.Release()
	} else {
		note()
	}
	note()
}

// onNo leaves it where yes is true.
func onNo(b slab.PooledBuffer, yes bool) {
	if yes {
		return
	}
	b.Release()
}

// ofLarge leaves it where a number is large that is not its length.
func ofLarge(b slab.PooledBuffer, n int) {
	if n > 10 {
		return
	}
	b.Release()
}

func ofOther(b, other slab.PooledBuffer) {
	if other.Len() > 10 {
		return
	}
	b.Release()
}

func ofSlice(b slab.PooledBuffer, other []int) {
	if len(other) > 10 {
		return
	}
	b.Release()
}

func ofLength(b slab.PooledBuffer) {
	if length() > 10 {
		return
	}
	b.Release()
}

// ofSum asks for no more than whether two lengths are something together.
func ofSum(b slab.PooledBuffer, other int) {
	if b.Len()+other == 10 {
		return
	}
	b.Release()
}

// refuses tells its caller that it has not taken a large buffer.
func refuses(b slab.PooledBuffer) error {
	if b.Len() > 10 {
		return errors.New("too large")
	}
	return b.Release()
}

// putsFull leaves a slice without capacity, which is in the pool already.
func putsFull(p *slab.Pool, b []byte) {
	if cap(b) > 0 {
		p.Put(b)
	}
}

// puts tells its caller what Put said.
func puts(p *slab.Pool, b []byte) error {
	if err := p.Put(b); err != nil {
		return err
	}
	return nil
}

// frees gives back one reference of those that its caller may have.
func frees(b mem.Buffer) { b.Free() }

// empty releases it if there is anything in it.
func empty(b slab.PooledBuffer) {
	if b.Len() == 0 {
		return
	}
	b.Release()
}

func full(b slab.PooledBuffer) {
	if b.Len() != 0 {
		b.Release()
	}
}

func afterAll(p *slab.Pool, b slab.PooledBuffer, s []byte, m mem.Buffer, yes bool) int {
	onYes(b, yes)
	onNo(b, yes)
	ofLarge(b, 3)
	ofOther(b, b)
	ofSlice(b, nil)
	ofLength(b)
	ofSum(b, 3)
	putsFull(p, s)
	frees(m)
	return len(b.Bytes()) + int(s[0]) + len(m.ReadOnlyData())
}

func refused(b slab.PooledBuffer) {
	if err := refuses(b); err != nil {
		b.Release()
	}
}

func putAgain(p *slab.Pool, s []byte) {
	if err := puts(p, s); err != nil {
		s[0] = 1
		p.Put(s)
	}
}

// gives puts a slice whatever its pool says.
func gives(p *slab.Pool, s []byte) { p.Put(s) }

func afterGives(p *slab.Pool, s []byte) {
	gives(p, s)
	s[0] = 1 // want `byte slice is used after its gives on line`
}

func afterEmpty(b slab.PooledBuffer) []byte {
	empty(b)
	return b.Bytes() // want `buffer is used after its empty on line`
}

func afterFull(b slab.PooledBuffer) []byte {
	full(b)
	return b.Bytes() // want `buffer is used after its full on line`
}

func givenTwice(p *slab.Pool, s []byte) {
	gives(p, s)
	gives(p, s) // want `byte slice is released again after gives on line [0-9]+: keep one of the two`
}
