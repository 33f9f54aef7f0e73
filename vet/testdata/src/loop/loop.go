// Package loop gets buffers in loops, and loses or piles up those of earlier rounds: kinds f and h.
package loop

import (
	"context"
	"io"

	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/slab"
)

func overwritten(p *slab.Pool, in []io.Reader) (err error) {
	var b slab.PooledBuffer
	for _, r := range in {
		if b, err = p.Get(10); err != nil { // want `buffer of Get is not released on the way to the next round of the loop: its Release belongs there, too, or into a defer`
			return err
		}
		r.Read(b.Bytes())
	}
	return b.Release()
}

func releasedByLiteral(p *slab.Pool, r io.Reader) error {
	var b slab.PooledBuffer
	defer func() { b.Release() }()
	for {
		var err error
		b, err = p.Get(10) // want `buffer of Get is not released on the way to the next round of the loop`
		if err != nil {
			return err
		}
		if _, err = r.Read(b.Bytes()); err != nil {
			return err
		}
	}
}

func deferred(p *slab.Pool, in []io.Reader) error {
	for _, r := range in {
		b, err := p.Get(10)
		if err != nil {
			return err
		}
		defer b.Release() // want `the release of the buffer is deferred in a loop, and runs when the function returns: until then each round holds one more; release it in its round`
		r.Read(b.Bytes())
	}
	return nil
}

func deferredByLiteral(p *slab.Pool, in []io.Reader) error {
	for _, r := range in {
		b, err := p.GetBytes(10)
		if err != nil {
			return err
		}
		defer func() { p.Put(b) }() // want `the release of the byte slice is deferred in a loop`
		r.Read(b)
	}
	return nil
}

func deferredLease(ctx context.Context, p *growpool.Pool[string], n int) (sum int, err error) {
	for i := range n {
		l, err := growpool.Acquire[int](ctx, p, "x", n)
		if err != nil {
			return 0, err
		}
		defer l.Release() // want `the release of the buffer is deferred in a loop`
		sum += l.Slice()[i]
	}
	return sum, nil
}

// What follows is right.

func previous(p *slab.Pool, in []io.Reader) (err error) {
	var last slab.PooledBuffer
	for _, r := range in {
		b, err := p.Get(10)
		if err != nil {
			last.Release()
			return err
		}
		r.Read(b.Bytes())
		last.Release()
		last = b
	}
	return last.Release()
}

func releasedBefore(p *slab.Pool, r io.Reader) (err error) {
	var b slab.PooledBuffer
	defer func() { b.Release() }()
	for err == nil {
		b.Release()
		if b, err = p.Get(10); err != nil {
			return err
		}
		_, err = r.Read(b.Bytes())
	}
	return err
}

func grows(p *slab.Pool, r io.Reader) error {
	b, err := p.Get(10)
	if err != nil {
		return err
	}
	defer func() { b.Release() }()
	for n := 10; ; n *= 2 {
		if b, err = b.Grow(n); err != nil {
			return err
		}
		if _, err := r.Read(b.Bytes()); err != nil {
			return err
		}
	}
}

func firstThatWorks(p *slab.Pool, r io.Reader) error {
	for {
		b, err := p.Get(10)
		if err != nil {
			continue
		}
		defer b.Release()
		_, err = r.Read(b.Bytes())
		return err
	}
}

// All are wanted at the end.
func together(p *slab.Pool, in []io.Reader, use func([][]byte)) error {
	var all [][]byte
	for _, r := range in {
		b, err := p.Get(10)
		if err != nil {
			return err
		}
		defer b.Release()
		r.Read(b.Bytes())
		all = append(all, b.Bytes())
	}
	use(all)
	return nil
}

func lastIsReturned(p *slab.Pool, in []io.Reader) (b slab.PooledBuffer, err error) {
	for i, r := range in {
		if i > 0 {
			b.Release()
		}
		if b, err = p.Get(10); err != nil {
			return b, err
		}
		r.Read(b.Bytes())
	}
	return b, nil
}

// The one of the round before is handed on in the next, wherever that is.

func handsOn(p *slab.Pool, in []io.Reader, take func(slab.PooledBuffer)) {
	var last slab.PooledBuffer
	for range in {
		b, err := p.Get(10)
		take(last)
		if err != nil {
			return
		}
		last = b
	}
	take(last)
}

func handsOnLater(p *slab.Pool, in []io.Reader, take func(slab.PooledBuffer)) {
	var last slab.PooledBuffer
	for range in {
		b, err := p.Get(10)
		if err != nil {
			take(last)
			return
		}
		take(last)
		last = b
	}
	take(last)
}

func handsOnOne(p *slab.Pool, in []io.Reader, take func(slab.PooledBuffer)) {
	var last slab.PooledBuffer
	for range in {
		b, err := p.Get(10)
		one := b
		if err != nil {
			one = last
		}
		take(one)
		last = one
	}
}

func handsOnTheLast(p *slab.Pool, in []io.Reader, take func(slab.PooledBuffer)) (err error) {
	var last, b slab.PooledBuffer
	for range in {
		if b, err = p.Get(10); err != nil { // want `buffer of Get is not released on the way to the next round of the loop`
			return err
		}
		last = b
	}
	take(last)
	return nil
}

// The literal that runs in each round releases the buffer of the round before.
func releasedByCalledLiteral(p *slab.Pool, r io.Reader, each func(func())) (err error) {
	var b slab.PooledBuffer
	end := func() { b.Release() }
	defer func() { b.Release() }()
	for err == nil {
		each(end)
		if b, err = p.Get(10); err != nil {
			return err
		}
		_, err = r.Read(b.Bytes())
	}
	return err
}
