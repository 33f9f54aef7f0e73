package ways

import "github.com/bufslab/bufslab/slab"

func negatedFlagForgets(p *slab.Pool, yes bool) {
	b, err := p.Get(10) // want `buffer of Get is not released on the way to the return on line`
	if err != nil {
		return
	}
	no := !yes
	if no {
		return
	}
	b.Release()
}

func flagForgets(p *slab.Pool, yes bool) {
	b, err := p.Get(10) // want `buffer of Get is not released on the way to the end of the function`
	if err != nil {
		return
	}
	done := false
	if yes {
		use(b)
		done = true
	}
	if !done {
		b.Release()
	}
}

func flagOfLiteralForgets(p *slab.Pool, each func(func())) {
	b, err := p.Get(10) // want `buffer of Get is not released on the way to the return on line`
	if err != nil {
		return
	}
	stop := false
	each(func() { stop = true })
	if stop {
		return
	}
	b.Release()
}

func errorThatMayBe(p *slab.Pool, gone func(error) bool) error {
	b, err := p.Get(10) // want `buffer of Get is not released on the way to the return on line`
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return b.Release()
}

func panicsWith(p *slab.Pool, reason error, yes bool) {
	b, err := p.Get(10) // want `buffer of Get is not released on the way to the panic on line`
	if err != nil {
		return
	}
	if yes {
		panic(reason)
	}
	b.Release()
}

func oneOfTwo(p *slab.Pool, yes bool) {
	a, err := p.Get(10) // want `buffer of Get is not released on the way to the end of the function`
	if err != nil {
		return
	}
	b, err := p.Get(20) // want `buffer of Get is not released on the way to the end of the function`
	if err != nil {
		a.Release()
		return
	}
	x := a
	if yes {
		x = b
	}
	x.Release()
}

func threeWays(p *slab.Pool, n int) {
	b, err := p.Get(10) // want `not released on the way to the return on line [0-9]+ and the return on line [0-9]+ and the return on line [0-9]+:`
	if err != nil {
		return
	}
	switch n {
	case 1:
		return
	case 2:
		return
	case 3:
		return
	}
	b.Release()
}

func fourWays(p *slab.Pool, n int) {
	b, err := p.Get(10) // want `not released on the way to the return on line [0-9]+, the return on line [0-9]+, the return on line [0-9]+ and 1 more:`
	if err != nil {
		return
	}
	switch n {
	case 1:
		return
	case 2:
		return
	case 3:
		return
	case 4:
		return
	}
	b.Release()
}

func readByLiteral(p *slab.Pool, yes bool) {
	b, err := p.Get(10) // want `buffer of Get is not released on the way to the return on line`
	if err != nil {
		return
	}
	stop := false
	defer func() { print(stop) }()
	if yes {
		stop = true
	}
	if stop {
		return
	}
	b.Release()
}

// The last return gives the caller the buffer, the first does not.
func bothOrNeither(p *slab.Pool, yes bool) (slab.PooledBuffer, error) {
	b, err := p.Get(10) // want `buffer of Get is not released on the way to the return on line`
	if yes {
		return slab.PooledBuffer{}, errFull
	}
	return b, err
}

func refusedAndForgotten(p *slab.Pool, take func(slab.PooledBuffer) error) error {
	b, err := p.Get(10) // want `buffer of Get is not released on the way to the return on line`
	if err != nil {
		return err
	}
	err = take(b)
	if err == errFull {
		return err
	}
	if err != nil {
		b.Release()
	}
	return err
}

func refusedAndReleased(p *slab.Pool, take func(slab.PooledBuffer) error) error {
	b, err := p.Get(10)
	if err != nil {
		return err
	}
	err = take(b)
	if err == errFull {
		b.Release()
		return nil
	}
	if err != nil {
		b.Release()
	}
	return err
}

func panicsWithNumber(p *slab.Pool, yes bool) {
	b, err := p.Get(10) // want `buffer of Get is not released on the way to the panic on line`
	if err != nil {
		return
	}
	if yes {
		panic(3)
	}
	b.Release()
}
