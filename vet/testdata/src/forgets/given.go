package forgets

// Conditions that lead to a Get, and are asked again.

import (
	"sync"

	"github.com/bufslab/bufslab/slab"
)

type settings struct {
	sum    bool
	closed bool
	most   int
}

// The second condition is the first one again.
func sameCondition(p *slab.Pool, s *settings, want bool, n, most int) error {
	var flagged, large, set, within slab.PooledBuffer
	var err error
	if want {
		if flagged, err = p.Get(n); err != nil {
			return err
		}
	}
	parse(nil)
	if want {
		flagged.Release()
	}
	if n > 0 {
		if large, err = p.Get(n); err != nil {
			return err
		}
	}
	parse(nil)
	if 0 < n {
		large.Release()
	}
	if s.sum {
		if set, err = p.Get(n); err != nil {
			return err
		}
	}
	parse(nil)
	if s.sum {
		set.Release()
	}
	if within, err = p.Get(n); err != nil {
		return err
	}
	if n > most {
		within.Release()
	}
	if n <= most {
		within.Release()
	}
	return nil
}

// The second condition is another one, or what it asks for may have changed.
func otherCondition(p *slab.Pool, n int) error {
	var b slab.PooledBuffer
	var err error
	if n > 0 {
		if b, err = p.Get(n); err != nil { // want `buffer of Get is not released on the way to the return on line \d+`
			return err
		}
	}
	if n > 1 {
		b.Release()
	}
	return nil
}

func lessOrMore(p *slab.Pool, n, most int) error {
	b, err := p.Get(n) // want `buffer of Get is not released on the way to the return on line \d+`
	if err != nil {
		return err
	}
	if n > most || n < most {
		b.Release()
	}
	return nil
}

func closedMeanwhile(p *slab.Pool, s *settings, mu *sync.Mutex) error {
	if s.closed {
		return nil
	}
	b, err := p.Get(10) // want `buffer of Get is not released on the way to the return on line \d+`
	if err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	if s.closed {
		return nil
	}
	return b.Release()
}

func nextRound(p *slab.Pool, s *settings, n int) error {
	for i := range n {
		if i > s.most {
			continue
		}
		b, err := p.Get(10) // want `buffer of Get is not released on the way to the return on line \d+`
		if err != nil {
			return err
		}
		if i > 2 {
			return nil
		}
		b.Release()
	}
	return nil
}
