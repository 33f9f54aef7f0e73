package slab

import (
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A bound that changes while the program runs.
//
// Where more is in use than a new maximum allows, something that never tries is first in the queue of the Limit. So the
// pools cache nothing: each Release goes to its strategy, and from there upstream (see fit). Calls that wait have their
// place behind it, until the rest fits.

// SetMaxBytes changes the pool's own bound, Config.MaxBytes, while the pool is in use; 0 is none. Limits below stay.
//
// If the pool has more than max bytes, it gives held memory back at once, as FreeHeld does, and keeps nothing for reuse
// until the rest fits. Nothing that is out is touched. Until then a Get that needs new memory fails, and GetContext
// waits. A call that waits for more than the new bound fails. A larger bound serves calls that wait.
//
// A bound that is a share follows the limit of the container until the first SetMaxBytes, where Config.Pressure is set.
//
// [Stats] has the bound as MaxBytes. [Pool.Explain] has that of Open. SetMaxBytes is safe for concurrent use: of two
// calls at the same time either may be the last. It is not for a pool that was forgotten.
//
// The error is a *[ConfigError] if Config.MaxBytes cannot be max, and ErrClosed after Close. Then nothing changes.
func (p *Pool) SetMaxBytes(max int64) error {
	if !p.isOpened() {
		return errNotOpened
	}
	was := p.pool.resized.Swap(true)
	err := p.pool.setMaxBytes(max)
	if err != nil {
		p.pool.resized.Store(was)
	}
	return err
}

func (p *pool) setMaxBytes(max int64) error {
	c := Config{Device: p.config.Device, MaxBytes: max, traits: p.config.traits}
	switch err := c.Validate(); {
	case err != nil:
		return err
	case p.closed.Load():
		return ErrClosed
	}
	return p.own.SetMax(heldLimit(max))
}

// fit is called when memory has come back to the strategy while somebody waits. It gives back what is more than a
// maximum allows that has become less. If a goroutine empties the caches just now, which may be this one, another
// goroutine waits for that.
func (p *pool) fit() {
	switch {
	case !p.isTight():
	case p.reclaimMu.TryLock():
		p.fitLocked()
	case p.fitting.CompareAndSwap(false, true):
		go func() {
			p.reclaimMu.Lock()
			p.fitting.Store(false) // what comes back from now on has to call again
			p.fitLocked()
		}()
	}
}

// fitLocked is fit with reclaimMu held, which it unlocks.
func (p *pool) fitLocked() {
	over := int64(0)
	for a := range upstream.Layers(p.upstream) {
		if l, ok := a.(*Limit); ok && l.tight.Load() != nil {
			over = max(over, l.over())
		}
	}
	if over > 0 {
		p.shrinkLocked(over)
	} else {
		p.reclaimMu.Unlock()
	}
	for a := range upstream.Layers(p.upstream) {
		if l, ok := a.(*Limit); ok && l.tight.Load() != nil {
			l.settle()
		}
	}
}
