// Package kept keeps slices and drops their handles, and appends to what cannot grow: kind g.
package kept

import (
	"fmt"

	"github.com/bufslab/bufslab/arena"
	"github.com/bufslab/bufslab/slab"
)

func returned(p *slab.Pool) ([]byte, error) {
	b, err := p.Get(10)
	if err != nil {
		return nil, err
	}
	return b.Bytes(), nil // want `slice of the buffer is kept, and the buffer is not: off the heap the next collection takes its memory; keep the buffer with it, or use GetBytes and Put`
}

type frame struct {
	data  []byte
	whole slab.PooledBuffer
}

func (f *frame) field(p *slab.Pool) error {
	b, err := p.Get(10)
	if err != nil {
		return err
	}
	f.data = b.Bytes()[:5] // want `slice of the buffer is kept, and the buffer is not`
	return nil
}

func literal(p *slab.Pool) (func() byte, error) {
	b, err := p.Get(10)
	if err != nil {
		return nil, err
	}
	data := b.Bytes()
	return func() byte { return data[0] }, nil // want `slice of the buffer is kept, and the buffer is not`
}

func goroutine(p *slab.Pool, use func([]byte)) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	go use(b.Bytes()) // want `slice of the buffer is kept, and the buffer is not`
}

func fill(m []byte) { clear(m) }

func knownGoroutine(p *slab.Pool) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	go fill(b.Bytes()) // want `slice of the buffer is kept, and the buffer is not`
}

func listed(p *slab.Pool, list [][]byte) [][]byte {
	b, err := p.Get(10)
	if err != nil {
		return list
	}
	return append(list, b.Bytes()) // want `slice of the buffer is kept, and the buffer is not`
}

func channel(p *slab.Pool, to chan []byte) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	to <- b.Bytes() // want `slice of the buffer is kept, and the buffer is not`
}

func onOnePath(p *slab.Pool, ok bool) []byte {
	b, err := p.Get(10)
	if err != nil {
		return nil
	}
	if ok {
		return b.Bytes() // want `slice of the buffer is kept, and the buffer is not`
	}
	b.Release()
	return nil
}

func typed(p *slab.Pool) []int {
	s, err := slab.Make[int](p, 10)
	if err != nil {
		return nil
	}
	return s.Slice() // want `slice of the buffer is kept, and the buffer is not`
}

func piece(p *slab.Pool) ([]byte, error) {
	return arena.New(p).Get(10) // want `slice of the Arena is kept, and the Arena is not`
}

func outgrown(p *slab.Pool, more []byte) error {
	b, err := p.GetBytes(10)
	if err != nil {
		return err
	}
	b = append(b, more...) // want `append outgrows the slice of GetBytes`
	return p.Put(b)
}

// What follows is right.

func (f *frame) both(p *slab.Pool) error {
	b, err := p.Get(10)
	if err != nil {
		return err
	}
	f.data, f.whole = b.Bytes(), b
	return nil
}

func bytes(p *slab.Pool) ([]byte, error) { return p.GetBytes(10) }

func copied(p *slab.Pool) ([]byte, error) {
	b, err := p.Get(10)
	if err != nil {
		return nil, err
	}
	defer b.Release()
	return append([]byte(nil), b.Bytes()...), nil
}

func fits(p *slab.Pool, more []byte) error {
	b, err := p.GetBytes(10)
	if err != nil {
		return err
	}
	return p.Put(append(b[:0], more...))
}

func bothPut(p *slab.Pool, more []byte, use func([]byte)) error {
	b, err := p.GetBytes(10)
	if err != nil {
		return err
	}
	use(append(b, more...))
	return p.Put(b)
}

// It is never released, and that is all: Println keeps nothing.
func printed(p *slab.Pool) error {
	b, err := p.Get(10) // want `buffer of Get is never released, returned or passed on: defer its Release behind the check of the error`
	if err != nil {
		return err
	}
	fmt.Println(b.Bytes())
	return nil
}

func outgrownByText(p *slab.Pool) error {
	b, err := p.GetBytes(10)
	if err != nil {
		return err
	}
	b = append(b, "more"...) // want `append outgrows the slice of GetBytes`
	return p.Put(b)
}

func appendsNothing(p *slab.Pool) error {
	b, err := p.GetBytes(10)
	if err != nil {
		return err
	}
	b = append(b, ""...)
	return p.Put(b)
}
