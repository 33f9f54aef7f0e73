// Package missed misuses buffers where the analyzer does not find it. README.md says why.
package missed

import (
	"context"
	"io"

	"github.com/bufslab/bufslab/arena"
	"github.com/bufslab/bufslab/slab"
)

// field keeps the buffer where nobody sees whether it goes back.
func field(p *slab.Pool, r io.Reader) error {
	b, err := p.Get(10)
	if err != nil {
		return err
	}
	m := struct{ b slab.PooledBuffer }{b}
	if _, err := io.ReadFull(r, m.b.Bytes()); err != nil {
		return err
	}
	return m.b.Release()
}

func all(ctx context.Context, p *slab.Pool) error {
	two, err := p.GetAll(ctx, 10, 20)
	if err != nil {
		return err
	}
	return two[0].Release()
}

func errorIsLookedAt(p *slab.Pool, told func(error)) error {
	b, err := p.Get(10)
	if err != nil {
		told(err)
	}
	b.Bytes()[0] = 1
	return b.Release()
}

func inMap(b slab.PooledBuffer) {
	live := map[int]slab.PooledBuffer{0: b}
	live[0].Release()
	live[0].Bytes()[0] = 1
}

func slicesInSlice(p *slab.Pool) (out [][]byte, err error) {
	a := arena.New(p)
	defer a.Release()
	m, err := a.Get(10)
	return append(out, m), err
}

func dependsOnPath(p *slab.Pool, all []string) (longest []byte, err error) {
	a := arena.New(p)
	defer a.Release()
	for _, name := range all {
		m, err := a.Get(len(name))
		if err != nil {
			return nil, err
		}
		if copy(m, name) > len(longest) {
			longest = m
		}
	}
	return longest, nil
}
