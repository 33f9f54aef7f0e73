package slab

import (
	"fmt"

	"github.com/bufslab/bufslab/slab/internal/budget"
)

// SetMax changes the maximum of l, while pools use it. Everything that [Pool.SetMaxBytes] says of a pool holds for all
// pools that share l. It is safe for concurrent use.
//
// The error is a *[GuaranteeError] if max is less than l has promised to its children, or than was promised to l, and
// wraps [ErrSize] if max is negative. Then nothing changes.
func (l *Limit) SetMax(max int64) error {
	over, err := l.setMax(max)
	if err != nil {
		return err
	}
	if over > 0 {
		l.budget.GiveNow()
	}
	l.settle()
	l.budget.Queue.Changed()
	l.budget.Wake()
	l.budget.WakeMembers() // a call may wait for what never comes now
	return nil
}

// setMax returns how many bytes are too many then.
func (l *Limit) setMax(max int64) (over int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case max < 0:
		return 0, fmt.Errorf("slab: a limit of %d bytes: %w", max, ErrSize)
	case max < l.guarantee || max < l.promised:
		return 0, &GuaranteeError{l.guarantee, max, max, l.promised}
	}
	l.max = max
	return l.inUse - max, nil
}

// over returns how many bytes are in use above the maximum.
func (l *Limit) over() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, l.inUse-l.max)
}

// settle has the pools cache nothing while more is in use than the maximum allows, and lets them cache again once all
// that is in use fits. It looks again after each change: refund may have looked before it.
func (l *Limit) settle() {
	l.settling.Lock()
	defer l.settling.Unlock()
	for {
		switch w, over := l.tight.Load(), l.over() > 0; {
		case over && w == nil:
			w = budget.NewFirst(&l.budget)
			l.tight.Store(w)
			l.budget.Join(w)
		case !over && w != nil:
			l.tight.Store(nil)
			l.budget.Leave(w)
		default:
			return
		}
	}
}

// settleSoon is settle for a caller that may hold any lock, after less is in use.
func (l *Limit) settleSoon() {
	if l.tight.Load() != nil && l.over() == 0 {
		go l.settle()
	}
}
