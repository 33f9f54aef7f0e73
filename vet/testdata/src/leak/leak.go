// Package leak gets buffers and does not release them: kind c.
package leak

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/bufslab/bufslab/arena"
	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/iobuf"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
)

func leak(p *slab.Pool, w io.Writer) error {
	b, err := p.Get(10) // want `buffer of Get is never released, returned or passed on`
	if err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

func released(p *slab.Pool, w io.Writer) error {
	b, err := p.Get(10)
	if err != nil {
		return err
	}
	defer b.Release()
	_, err = w.Write(b.Bytes())
	return err
}

func dropped(p *slab.Pool) {
	p.Get(10) // want `result of Get is dropped`
}

func expected(p *slab.Pool) bool {
	_, err := p.Get(-1)
	return err != nil
}

func part(b slab.PooledBuffer) byte {
	c, err := b.Slice(1, 2) // want `buffer of Slice is never released`
	if err != nil {
		return 0
	}
	return c.Bytes()[0]
}

func share(b slab.PooledBuffer, to chan slab.PooledBuffer) error {
	c, err := b.Share()
	if err != nil {
		return err
	}
	to <- c
	return nil
}

func typed(p *slab.Pool) (sum int) {
	s, err := slab.Make[int](p, 10) // want `buffer of Make is never released`
	if err != nil {
		return 0
	}
	for _, x := range s.Slice() {
		sum += x
	}
	return sum
}

func writer(p *slab.Pool, w io.Writer) error {
	b := iobuf.New(p) // want `Buffer of New is never released`
	if _, err := b.Write([]byte("x")); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

func encoded(p *slab.Pool, v any) error {
	b := iobuf.New(p) // want `Buffer of New is never released`
	return json.NewEncoder(b).Encode(v)
}

func oldWriter(p *slab.Pool) {
	b := slab.NewBuffer(p) // want `Buffer of NewBuffer is never released`
	b.Write(nil)
}

func pieces(p *slab.Pool) error {
	a := arena.New(p) // want `Arena of New is never released`
	_, err := a.Get(10)
	return err
}

func lease(ctx context.Context, p *growpool.Pool[string]) (float64, error) {
	l, err := growpool.Acquire[float64](ctx, p, "x", 10) // want `buffer of Acquire is never released`
	if err != nil {
		return 0, err
	}
	return l.At(3), nil
}

func opened(r slab.Ref, l growpool.Ref[byte], u unified.Ref[byte]) error {
	a, err := r.Get() // want `buffer of Get is never released`
	if err != nil {
		return err
	}
	b, err := l.Get() // want `buffer of Get is never released`
	if err != nil {
		return err
	}
	c, err := u.Get()
	if err != nil {
		return err
	}
	defer c.Release()
	b.Set(a.Bytes()[0])
	return c.Fill(b.At())
}

func leaseReleased(ctx context.Context, p *growpool.Pool[string]) (float64, error) {
	l, err := growpool.Acquire[float64](ctx, p, "x", 10)
	if err != nil {
		return 0, err
	}
	defer l.Release()
	return l.At(3), nil
}

func sides(p *unified.Pool) error {
	b, err := unified.Acquire[float32](p, 10) // want `buffer of Acquire is never released`
	if err != nil {
		return err
	}
	return b.Fill(1)
}

type message struct{ body slab.PooledBuffer }

func inStruct(p *slab.Pool) (*message, error) {
	b, err := p.Get(10)
	if err != nil {
		return nil, err
	}
	return &message{body: b}, nil
}

func inSlice(p *slab.Pool, n int) (all []slab.PooledBuffer, err error) {
	for range n {
		b, err := p.Get(10)
		if err != nil {
			return all, err
		}
		all = append(all, b)
	}
	return all, nil
}

func cleanup(p *slab.Pool, later func(func())) ([]byte, error) {
	b, err := p.Get(10)
	if err != nil {
		return nil, err
	}
	later(func() { b.Release() })
	return b.Bytes(), nil
}

func methodValue(p *slab.Pool) ([]byte, func() error, error) {
	b, err := p.Get(10)
	if err != nil {
		return nil, nil, err
	}
	return b.Bytes(), b.Release, nil
}

func bytesThatWait(ctx context.Context, p *slab.Pool, r io.Reader) int {
	b, err := p.GetBytesContext(ctx, 10) // want `byte slice of GetBytesContext is never released`
	if err != nil {
		return 0
	}
	n, _ := r.Read(b)
	return n
}

func bytes(p *slab.Pool, r io.Reader) int {
	b, err := p.GetBytes(10) // want `byte slice of GetBytes is never released`
	if err != nil {
		return 0
	}
	n, _ := r.Read(b)
	return n
}

func body(p *slab.Pool, w io.Writer) error {
	b := iobuf.New(p)
	defer b.Release()
	r, err := b.Body() // want `Body of Body is never released, returned or passed on: defer its Close behind the check of the error`
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return err
}

func bodyOf(p *slab.Pool) (int64, error) {
	h, err := p.Get(10)
	if err != nil {
		return 0, err
	}
	r, err := iobuf.NewBody(h) // want `Body of NewBody is never released`
	if err != nil {
		return 0, err
	}
	return io.Copy(io.Discard, bufio.NewReader(r))
}

func bodyClosed(p *slab.Pool, w io.Writer) error {
	b := iobuf.New(p)
	defer b.Release()
	r, err := b.Body()
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(w, r)
	return errors.Join(err, r.Close()) // does no harm
}

func detached(p *slab.Pool) (slab.PooledBuffer, error) {
	b := iobuf.New(p) // empty, if Detach works
	b.Write(nil)
	h, err := b.Detach()
	if err != nil {
		b.Release()
		return h, err
	}
	return h, nil
}

func wrapped(p *slab.Pool) *bufio.Writer { return bufio.NewWriter(iobuf.New(p)) }

func started(p *slab.Pool, from io.Reader) {
	b := iobuf.New(p)
	go io.Copy(b, from)
}
