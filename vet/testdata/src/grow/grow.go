// Package grow uses handles that Grow has replaced: kind e.
package grow

import "github.com/bufslab/bufslab/slab"

func stale(b slab.PooledBuffer) (slab.PooledBuffer, error) {
	c, err := b.Grow(20)
	if err != nil {
		return b, err
	}
	b.Bytes()[10] = 1 // want `handle is stale: Grow on line 7 has replaced it`
	return c, nil
}

func replaced(b slab.PooledBuffer) (slab.PooledBuffer, error) {
	b, err := b.Grow(20)
	if err != nil {
		return b, err
	}
	b.Bytes()[10] = 1
	return b, nil
}

func failed(b slab.PooledBuffer) (slab.PooledBuffer, error) {
	c, err := b.Grow(20)
	if err != nil {
		b.Bytes()[0] = 1
		b.Release()
		return b, err
	}
	return c, nil
}

func ifItWorks(b slab.PooledBuffer) slab.PooledBuffer {
	if c, err := b.Grow(20); err == nil {
		b = c
	}
	b.Bytes()[0] = 1
	return b
}

func releasedOld(b slab.PooledBuffer) error {
	c, err := b.Grow(20)
	if err != nil {
		return err
	}
	defer c.Release()
	b.Release() // want `handle is stale: Grow on line 43 has replaced it`
	return nil
}

func deferredOld(p *slab.Pool) error {
	b, err := p.Get(10)
	if err != nil {
		return err
	}
	defer b.Release()
	c, err := b.Grow(20) // want `Grow ends the handle that the Release on line 57 is deferred of`
	if err != nil {
		return err
	}
	c.Bytes()[0] = 1
	return c.Release()
}

func deferredNew(p *slab.Pool) error {
	b, err := p.Get(10)
	if err != nil {
		return err
	}
	defer func() { b.Release() }()
	c, err := b.Grow(20)
	if err != nil {
		return err
	}
	b = c
	b.Bytes()[0] = 1
	return nil
}

func oldSlice(b slab.PooledBuffer) (byte, error) {
	data := b.Bytes()
	c, err := b.Grow(20)
	if err != nil {
		return 0, err
	}
	defer c.Release()
	return data[0], nil // want `slice of the buffer is used after its Grow on line 83`
}

func nilFirst(b slab.PooledBuffer) {
	c, err := b.Grow(20)
	if nil != err {
		b.Release()
		return
	}
	c.Release()
}

func nilFirstStale(b slab.PooledBuffer) {
	c, err := b.Grow(20)
	if nil == err {
		b.Bytes()[0] = 1 // want `handle is stale: Grow on line [0-9]+ has replaced it`
		c.Release()
	}
}
