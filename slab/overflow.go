package slab

import (
	"runtime"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/inside"
)

// A pool with Config.Overflow hands out plain Go memory where it has no room, and so do the adapters for any pool.
// That memory is of another pool, on the Go heap, which has no bound and holds nothing. So such buffers have all that
// buffers have, and the collector finds those that are forgotten.

func init() {
	inside.Made = func(p any, size int) []byte {
		defer runtime.KeepAlive(p)
		b, _ := bytesOf(p.(*Pool).opened().make(size))
		return b
	}
}

// orMake ends a Get that has failed with err: by plain memory, if the pool may make some.
func (p *pool) orMake(size int, how effort, err error) (PooledBuffer, error) {
	if p.config.Overflow != "" && !p.config.replayed() && how == fully && outOfMemory(err) {
		if b, failed := p.make(size); failed == nil {
			return b, nil
		}
	}
	return PooledBuffer{}, p.failed(err, how)
}

// make returns a buffer of plain memory.
func (p *pool) make(size int) (PooledBuffer, error) {
	over, err := p.plain()
	switch {
	case err != nil:
		return PooledBuffer{}, err
	case size < 0:
		return PooledBuffer{}, ErrSize
	}
	return over.get(size, over.cache.Uncached(), fully)
}

// plain returns the pool of plain memory, and opens it first if it is not open. It takes no lock: of two that open one,
// one is dropped. Close of p may have passed meanwhile, and then p closes it here.
func (p *pool) plain() (*pool, error) {
	if over := p.over.Load(); over != nil {
		return over, nil
	}
	d, err := device.Open("heap")
	if err != nil {
		return nil, err
	}
	c := p.config.Config
	c = Config{Device: "heap", Strategy: "direct", Name: c.Name, OnForget: c.OnForget, Strict: c.Strict, Check: c.Check,
		Align: c.Align, Zero: c.Zero, ProfileRate: c.ProfileRate, Hooks: c.Hooks, Logger: c.Logger}
	over := &pool{config: settings{Config: c.withDefaults(), given: c, on: d}}
	if err := over.open(); err != nil {
		return nil, err
	}
	if !p.over.CompareAndSwap(nil, over) {
		return p.over.Load(), over.close()
	}
	if p.closed.Load() {
		return over, over.close()
	}
	return over, nil
}
