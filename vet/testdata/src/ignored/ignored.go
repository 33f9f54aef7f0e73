// Package ignored does not look at the error of Get: kind f.
package ignored

import "github.com/bufslab/bufslab/slab"

func ignored(p *slab.Pool) {
	b, _ := p.Get(10) // want `error of Get is ignored, and the buffer is used`
	defer b.Release()
	b.Bytes()[0] = 1
}

func ignoredGrow(b slab.PooledBuffer) slab.PooledBuffer {
	b, _ = b.Grow(20) // want `error of Grow is ignored, and the buffer is used`
	b.Bytes()[0] = 1
	return b
}

func passed(p *slab.Pool) (slab.PooledBuffer, error) { return p.Get(10) }

func notUsed(p *slab.Pool) slab.PooledBuffer {
	b, _ := p.Get(10)
	return b
}

func looked(p *slab.Pool) {
	if b, err := p.Get(10); err == nil {
		b.Bytes()[0] = 1
		b.Release()
	}
}
