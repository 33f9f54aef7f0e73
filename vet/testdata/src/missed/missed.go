// Package missed misuses buffers where the analyzer does not find it. README.md says why.
package missed

import (
	"io"

	"github.com/bufslab/bufslab/arena"
	"github.com/bufslab/bufslab/slab"
)

func anotherPathReleases(p *slab.Pool, r io.Reader) error {
	b, err := p.Get(10)
	if err != nil {
		return err
	}
	if _, err := io.ReadFull(r, b.Bytes()); err != nil {
		return err
	}
	return b.Release()
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
