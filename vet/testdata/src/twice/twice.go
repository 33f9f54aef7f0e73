// Package twice releases buffers a second time: kind b.
package twice

import (
	"errors"

	"github.com/bufslab/bufslab/arena"
	"github.com/bufslab/bufslab/iobuf"
	"github.com/bufslab/bufslab/slab"
)

func twice(b slab.PooledBuffer) {
	b.Release()
	b.Release() // want `buffer is released again after Release on line 13`
}

func deferred(b slab.PooledBuffer, ok bool) error {
	defer b.Release()
	if !ok {
		b.Release() // want `buffer is released here and again by the Release deferred on line 18`
		return errors.New("no")
	}
	return nil
}

func either(b slab.PooledBuffer, ok bool) error {
	if !ok {
		b.Release()
		return errors.New("no")
	}
	return b.Release()
}

func looksAtIt(b slab.PooledBuffer) error {
	b.Release()
	return b.Release()
}

// A Buffer may be released twice: it is empty then.
func writer(p *slab.Pool) {
	b := iobuf.New(p)
	defer b.Release()
	b.Write([]byte("x"))
	b.Release()
}

// So may an Arena.
func pieces(p *slab.Pool) {
	a := arena.New(p)
	defer a.Release()
	a.Get(10)
	a.Release()
}

func inTurns(p *slab.Pool, n int) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	for range n {
		b.Release()
		if b, err = p.Get(10); err != nil {
			return
		}
	}
	b.Release()
}

// One of two buffers has ended, so what is either of them has.
func oneOfTwo(b, c slab.PooledBuffer, first bool) {
	b.Release()
	c.Release()
	d := b
	if first {
		d = c
	}
	d.Release() // want `buffer is released again after Release`
}

// The other one has not.
func theOther(b, c slab.PooledBuffer, first bool) {
	d := b
	if first {
		b.Release()
		d = c
	}
	d.Release()
}

func put(p *slab.Pool) {
	b, err := p.GetBytes(10)
	if err != nil {
		return
	}
	defer p.Put(b)
	p.Put(b) // want `byte slice is released here and again by the Put deferred`
}
