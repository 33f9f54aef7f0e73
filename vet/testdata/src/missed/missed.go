// Package missed misuses buffers where the analyzer does not find it. README.md says why.
package missed

import (
	"bytes"
	"context"
	"io"

	"github.com/apache/arrow-go/v18/arrow/array"

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

func besideError(p *slab.Pool, r io.Reader) (slab.PooledBuffer, error) {
	b, err := p.Get(10)
	if err != nil {
		return b, err
	}
	_, err = r.Read(b.Bytes())
	return b, err
}

type builder struct{ part slab.PooledBuffer }

func (b *builder) next(p *slab.Pool) (err error) {
	b.part, err = p.Get(10)
	return err
}

func (b *builder) finish() { b.part.Release() }

func neverReleased(mem any) {
	b := array.NewInt64Builder(mem)
	b.Append(1)
}

func trimmed(b slab.PooledBuffer) byte {
	m := bytes.TrimSpace(b.Bytes())
	b.Release()
	return m[0]
}

func inTwoIfs(b slab.PooledBuffer, done bool) {
	if done {
		b.Release()
	}
	if done {
		b.Bytes()[0] = 1
	}
}
