// Package ways has paths that a function has, and paths that it only seems to have: what is known on them rules them out.
package ways

import (
	"errors"
	"fmt"
	"log"

	"github.com/bufslab/bufslab/slab"
)

var errFull = errors.New("full")

type failure struct{}

func (*failure) Error() string { return "failure" }

func use(slab.PooledBuffer) {}

// What follows is right.

func flag(p *slab.Pool, yes bool) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	done := false
	if yes {
		b.Release()
		done = true
	}
	if !done {
		b.Release()
	}
}

func negatedFlag(p *slab.Pool, yes bool) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	no := !yes
	if yes {
		b.Release()
	}
	if no {
		b.Release()
	}
}

func number(p *slab.Pool, yes bool) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	state := 0
	if yes {
		b.Release()
		state = 1
	}
	if state == 0 {
		b.Release()
	}
}

func otherNumber(p *slab.Pool, yes bool) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	state := 2
	if yes {
		b.Release()
		state = 1
	}
	if state != 1 {
		b.Release()
	}
}

func noError(p *slab.Pool, yes bool) (failed error) {
	b, err := p.Get(10)
	if err != nil {
		return err
	}
	if yes {
		failed = errors.New("yes")
	} else {
		b.Release()
	}
	if failed != nil {
		b.Release()
	}
	return failed
}

func noErrorf(p *slab.Pool, yes bool) (failed error) {
	b, err := p.Get(10)
	if err != nil {
		return err
	}
	if yes {
		failed = fmt.Errorf("yes: %d", 3)
	} else {
		b.Release()
	}
	if failed != nil {
		b.Release()
	}
	return failed
}

func noFailure(p *slab.Pool, yes bool) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	var failed *failure
	if yes {
		failed = new(failure)
	} else {
		b.Release()
	}
	if failed != nil {
		b.Release()
	}
}

func certainError(p *slab.Pool) error {
	b, err := p.Get(10)
	if err == errFull {
		return nil
	}
	if nil != err {
		return err
	}
	return b.Release()
}

func ofAType(p *slab.Pool) error {
	b, err := p.Get(10)
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	if err != nil {
		return err
	}
	return b.Release()
}

func flagOfLiteral(p *slab.Pool, each func(func())) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	stop := false
	each(func() { stop = true })
	if stop {
		b.Release()
		return
	}
	b.Release()
}

func sentOrReleased(p *slab.Pool, out, other chan slab.PooledBuffer, second slab.PooledBuffer) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	select {
	case other <- second:
		b.Release()
	case out <- b:
	}
}

// The process ends there.
func exits(p *slab.Pool, yes bool) {
	b, err := p.Get(10)
	if err != nil {
		return
	}
	if yes {
		log.Fatal("no")
	}
	b.Release()
}
