package seeded

import (
	"errors"

	"github.com/bufslab/bufslab/slab"
)

// grown has the pool put memory behind that which it has.
type grown struct {
	pool *slab.Pool
	all  slab.PooledBuffer
}

func (s *grown) extend(n int) (_ []byte, err error) {
	if s.all.Len() == 0 {
		s.all, err = s.pool.Get(n)
	} else {
		s.all, err = s.all.Grow(s.all.Len() + n)
	}
	return s.all.Bytes(), err
}

func (s *grown) release() []byte {
	s.all.Release()
	return s.all.Bytes() // want `buffer is used after its Release`
}

// prompt fills a cache with the tokens of a prompt.
func prompt(p *slab.Pool, tokens [][]byte) (slab.PooledBuffer, error) {
	b, err := p.Get(0)
	if err != nil {
		return b, err
	}
	for _, token := range tokens {
		at := b.Len()
		c, err := b.Grow(at + len(token))
		if err != nil {
			b.Release()
			return b, err
		}
		copy(b.Bytes()[at:], token) // want `handle is stale: Grow on line 37 has replaced it`
		b = c
	}
	return b, nil
}

// double makes room, and is left with the old handle if its caller fails.
func double(p *slab.Pool, use func([]byte) error) error {
	b, err := p.GetZeroed(1 << 10)
	if err != nil {
		return err
	}
	defer b.Release()
	b, err = b.Grow(1 << 11) // want `Grow ends the handle that the Release on line 54 is deferred of` `buffer of Grow is never released`
	if err != nil {
		return err
	}
	return use(b.Bytes())
}

// half keeps what it had before the cache grew.
func half(b slab.PooledBuffer) (sum int, err error) {
	old := b.Bytes()
	b, err = b.Grow(2 * b.Len())
	if err != nil {
		return 0, err
	}
	for _, x := range old { // want `slice of the buffer is used after its Grow`
		sum += int(x)
	}
	return sum, b.Release()
}

// serve releases the caches of sequences that have ended.
func serve(p *slab.Pool, lengths []int) (err error) {
	live := map[int]slab.PooledBuffer{}
	for i, n := range lengths {
		b, _ := p.Get(n) // want `error of Get is ignored, and the buffer is used`
		b.Bytes()[0] = byte(i)
		live[i] = b
	}
	for i := range lengths {
		err = errors.Join(err, live[i].Release())
	}
	live[0].Bytes()[0] = 1 // missed: the buffer is in a map
	return err
}

// fork gives a second sequence the cache of the first.
func fork(b slab.PooledBuffer, n int) (byte, error) {
	shared, err := b.Share() // want `buffer of Share is never released`
	if err != nil {
		return 0, err
	}
	return shared.Bytes()[n], nil
}

// step is for one token of all sequences.
func step(p *slab.Pool, sequences int) error {
	scratch, err := p.Get(1 << 10)
	if err != nil {
		return err
	}
	for i := range sequences {
		clear(scratch.Bytes()) // want `buffer is used after its Release`
		scratch.Bytes()[0] = byte(i)
		scratch.Release() // want `buffer is released again`
	}
	return nil
}
