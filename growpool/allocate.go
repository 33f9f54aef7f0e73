package growpool

import (
	"context"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// A patience says how long a request waits, and which stream is the first to use the memory.
type patience struct {
	ctx context.Context
	on  device.Stream // nil if it is the CPU, or not known
}

// noWait is passed by calls that do not wait for memory.
var noWait patience

// allocateOrWait is allocate that waits for memory, unless wait is noWait. Meanwhile it unlocks e.mu: a
// goroutine that releases memory may need that lock. A key that waits is taken, like a leased key, and
// has no buffer; so nobody changes it.
func (p *Pool[K]) allocateOrWait(wait patience, e *entry[K], b *buffer) error {
	err := p.allocate(b, wait.on)
	if wait == noWait || !outOfMemory(err) {
		return err
	}
	func() {
		e.mu.Unlock()
		defer e.mu.Lock() // also if the device panics
		err = p.await(wait.ctx, b)
	}()
	if !p.closed.Load() {
		return err
	}
	if err == nil {
		_ = b.handle.Release() // Close has not seen it
	}
	return ErrClosed
}

// allocate gets the memory. A stream on is the first to use it. allocate runs the collector first
// if much was left to it, and again if there is no room: memory that Get has shown comes back in
// no other way.
func (p *Pool[K]) allocate(b *buffer, on device.Stream) error {
	get := p.slab.Get
	if on != nil {
		get = func(n int) (slab.PooledBuffer, error) { return p.slab.GetOn(n, on) }
		defer func() { b.uses.list = []use{{stream: on}} }() // nobody else has b yet; earlier work of on may go on
	}
	l := &p.budget.left
	l.relieve()
	err := b.fill(get)
	if !outOfMemory(err) || l.since.Load() == 0 { // or Views have what was left
		return err
	}
	for range 2 { // a finalizer may run after we have looked
		l.collect()
		if err = b.fill(get); !outOfMemory(err) {
			return err
		}
	}
	return err
}

// await gets the memory of b when there is room. Close ends the wait.
func (p *Pool[K]) await(ctx context.Context, b *buffer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.life, cancel)()
	return b.fill(func(n int) (slab.PooledBuffer, error) { return p.slab.GetContext(ctx, n) })
}
