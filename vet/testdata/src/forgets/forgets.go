// Package forgets has functions of which one path forgets what another releases: kind f.
package forgets

import (
	"context"
	"errors"
	"io"
	"sync"
	"unsafe"

	"github.com/bufslab/bufslab/arena"
	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/iobuf"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
)

func parse(b []byte) error { return nil }

func failedParse(p *slab.Pool) error {
	b, err := p.Get(10) // want `buffer of Get is not released on the way to the return on line 26`
	if err != nil {
		return err
	}
	if err := parse(b.Bytes()); err != nil {
		return err
	}
	return b.Release()
}

func failedParseReturned(p *slab.Pool, r io.Reader) (slab.PooledBuffer, error) {
	b, err := p.Get(10) // want `buffer of Get is not released on the way to the return on line 37`
	if err != nil {
		return b, err
	}
	if _, err := io.ReadFull(r, b.Bytes()); err != nil {
		return slab.PooledBuffer{}, err
	}
	return b, nil
}

func continues(ctx context.Context, p *slab.Pool, in [][]byte) {
	for _, x := range in {
		b, err := p.GetContext(ctx, len(x)) // want `buffer of GetContext is not released on the way to the next round of the loop`
		if err != nil {
			continue
		}
		if parse(x) != nil {
			continue
		}
		copy(b.Bytes(), x)
		b.Release()
	}
}

func panics(p *slab.Pool, ok bool) {
	b, err := p.GetBytes(10) // want `byte slice of GetBytes is not released on the way to the panic on line 62`
	if err != nil {
		panic(err)
	}
	if !ok {
		panic("no")
	}
	p.Put(b)
}

func selects(ctx context.Context, p *slab.Pool, out chan slab.PooledBuffer) error {
	b, err := p.Get(10) // want `buffer of Get is not released on the way to the return on line 76`
	if err != nil {
		return err
	}
	select {
	case out <- b:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func switches(p *slab.Pool, what int) {
	b, err := p.GetZeroed(10) // want `buffer of GetZeroed is not released on the way to the end of the function`
	if err != nil {
		return
	}
	switch what {
	case 1:
		b.Release()
	case 2:
		parse(b.Bytes())
		b.Release()
	}
}

var parsers = sync.Pool{New: func() any { return new(parser) }}

type parser struct{ at int }

func (p *parser) parse(b []byte) error { return nil }

func object(in []byte) error {
	p := parsers.Get().(*parser) // want `pooled object of Get is not released on the way to the return on line 103`
	if err := p.parse(in); err != nil {
		return err
	}
	parsers.Put(p)
	return nil
}

func objectReturned(in []byte) (*parser, error) {
	p, ok := parsers.Get().(*parser) // want `pooled object of Get is not released on the way to the return on line 115`
	if !ok {
		p = new(parser)
	}
	if len(in) == 0 {
		return nil, io.EOF
	}
	return p, nil
}

func grown(p *slab.Pool) error {
	b, err := p.Get(10) // want `buffer of Get is not released on the way to the return on line 127`
	if err != nil {
		return err
	}
	b, err = b.Grow(20) // want `buffer of Grow is not released on the way to the return on line 130`
	if err != nil {
		return err
	}
	if parse(b.Bytes()) != nil {
		return io.EOF
	}
	return b.Release()
}

func others(ctx context.Context, p *slab.Pool, g *growpool.Pool[string], u *unified.Pool, n int) error {
	s, err := slab.Make[int](p, n) // want `buffer of Make is not released on the way to the return on line 142 and the return on line 146`
	if err != nil {
		return err
	}
	l, err := growpool.Acquire[int](ctx, g, "x", n) // want `buffer of Acquire is not released on the way to the return on line 146`
	if err != nil {
		return err
	}
	x, err := unified.Acquire[int](u, n)
	if err != nil {
		return err
	}
	return errors.Join(s.Release(), l.Release(), x.Release())
}

func writers(p *slab.Pool, n int) error {
	b := iobuf.New(p) // want `Buffer of New is not released on the way to the return on line 155`
	a := arena.New(p) // want `Arena of New is not released on the way to the return on line 155`
	if _, err := b.Write(nil); err != nil {
		return err
	}
	b.Release()
	a.Release()
	return nil
}

// What follows is right.

func deferredFirst(p *slab.Pool) (err error) {
	var b slab.PooledBuffer
	defer func() {
		if err != nil {
			b.Release()
		}
	}()
	if b, err = p.Get(10); err != nil {
		return err
	}
	if err = parse(b.Bytes()); err != nil {
		return err
	}
	return b.Release()
}

func flag(p *slab.Pool, want bool) error {
	var b *growpool.Lease[int]
	var err error
	if want {
		if b, err = growpool.Acquire[int](nil, (*growpool.Pool[string])(nil), "x"); err != nil {
			return err
		}
	}
	if b != nil {
		return b.Release()
	}
	return nil
}

func asked(p *slab.Pool, told func(error)) {
	b, err := p.Get(10)
	switch {
	case errors.Is(err, io.EOF):
	case err != nil:
		told(err)
	default:
		b.Release()
	}
}

func takenIfItWorks(p *slab.Pool, send func(slab.PooledBuffer) error) error {
	b, err := p.Get(10)
	if err != nil {
		return err
	}
	if err := send(b); err != nil {
		b.Release()
		return err
	}
	return nil
}

func notTaken(p *slab.Pool, send func(slab.PooledBuffer) error, again error) error {
	b, err := p.Get(10) // want `buffer of Get is not released on the way to the return on line 224`
	if err != nil {
		return err
	}
	if err := send(b); err != nil {
		if err != again {
			return err
		}
		b.Release()
	}
	return nil
}

func taken(p *slab.Pool, offer func(slab.PooledBuffer) bool) {
	if b, err := p.Get(10); err == nil && !offer(b) {
		b.Release()
	}
}

func keptForNext(p *slab.Pool, n int) error {
	last, err := p.Get(10)
	if err != nil {
		return err
	}
	for range n {
		b, err := p.Get(10)
		if err != nil {
			break
		}
		last.Release()
		last = b
	}
	return last.Release()
}

func grownInLiteral(p *slab.Pool, n int) error {
	b, err := p.Get(10)
	if err != nil {
		return err
	}
	defer func() { b.Release() }()
	more := func() error {
		c, err := b.Grow(n)
		if err == nil {
			b = c
		}
		return err
	}
	return more()
}

func pointer(p *slab.Pool, free *[]unsafe.Pointer) error {
	b, err := p.GetBytes(10)
	if err != nil {
		return err
	}
	*free = append(*free, unsafe.Pointer(unsafe.SliceData(b)))
	return nil
}

func pointers(p *slab.Pool, use func(uintptr), show func(string)) {
	if b, err := p.GetBytes(10); err == nil {
		use(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
	}
	if b, err := p.GetBytes(10); err == nil {
		show(unsafe.String(&b[0], len(b)))
	}
}

func large(in []byte) {
	p := slices.Get().(*[]byte)
	if cap(*p) > 1<<16 {
		return
	}
	slices.Put(p)
}

var slices sync.Pool

func inPanic(ok bool) {
	p := parsers.Get().(*parser)
	if !ok {
		panic("no")
	}
	parsers.Put(p)
}

type reader struct{ in io.ReadCloser }

var readers sync.Pool

func closed(ok bool) {
	r := readers.Get().(*reader)
	if !ok {
		r.in.Close()
		return
	}
	readers.Put(r)
}

func ofLength(want bool) {
	var b []byte
	if want {
		b = slices.Get().([]byte)
	}
	if len(b) > 0 {
		slices.Put(b)
	}
}

// What is no error is not a certain one.
func noCertainError(p *slab.Pool) error {
	b, err := p.Get(10)
	if err != nil {
		return err
	}
	if err == io.EOF {
		return nil
	}
	return b.Release()
}

// Where many paths forget, three are named.
func manyExits(p *slab.Pool, n int) int {
	b, err := p.Get(10) // want `not released on the way to the return on line \d+, the return on line \d+, the return on line \d+ and 2 more`
	if err != nil {
		return 0
	}
	b.Bytes()[0] = 1
	if n == 1 {
		return 1
	}
	if n == 2 {
		return 2
	}
	if n == 3 {
		return 3
	}
	if n == 4 {
		return 4
	}
	if n == 5 {
		return 5
	}
	b.Release()
	return 6
}

// Where a function looks at the error, no path is known to have a buffer.
func errorGivenAway(p *slab.Pool, must func(error), ok bool) {
	b, err := p.Get(10)
	must(err)
	if !ok {
		return
	}
	b.Release()
}
