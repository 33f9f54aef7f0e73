package slab

import (
	"fmt"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/underway"
	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/watch"
)

func init() { underway.Watcher = watcherOf }

// lookUnderWay reports a buffer that is released while a stream works on it, if the device knows that
// work and no UsedOn or GetOn has named the stream. The next owner would share the memory with the work.
// A named stream that waits for the work counts as well.
func (p *pool) lookUnderWay(s *handle.Slot) {
	if d, ok := p.overseer(); ok && !s.Collected() {
		p.lookAt(d, s.Block(s.Asked()), underway.Ended{What: "slab: buffer", By: "UsedOn or GetOn",
			Named: p.pending.Uses(s)})
	}
}

// overseer returns the device of a pool that looks.
func (l *layers) overseer() (d device.Overseer, ok bool) {
	if l.check != nil {
		d, ok = deviceOf(l.upstream).(device.Overseer)
	}
	return d, ok
}

func (l *layers) lookAt(d device.Overseer, b device.Block, e underway.Ended) {
	if named, _ := e.Named.([]device.Stream); b.Len > 0 && d.UnderWay(b, named...) {
		l.check.Report(fmt.Sprintf("%s of %d bytes released at %s while a stream works on it: no %s has named that stream",
			e.What, b.Len, watch.Caller(), e.By))
	}
}

// watcherOf is [underway.Watcher]: growpool and unified keep buffers that have a new owner each.
func watcherOf(front any) func(any, underway.Ended) {
	f := front.(*Pool)
	if !f.isOpened() {
		return nil
	}
	p := f.pool
	d, ok := p.overseer()
	if !ok {
		return nil
	}
	return func(buffer any, e underway.Ended) {
		b := buffer.(PooledBuffer)
		if b.slot == nil || !b.slot.Pin(b.gen) { // its Release has looked
			return
		}
		defer b.unpin()
		if !b.slot.Collected() {
			p.lookAt(d, b.slot.Block(b.n), e)
		}
	}
}
