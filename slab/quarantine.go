package slab

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/handle"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A block off the heap that was forgotten while a slice of it may be in use must never
// be handed out again. Its strategy takes it out of use for good: its pages go back, and
// out of every budget; who still uses the slice faults; the addresses stay taken.

// A quarantiner is a strategy that can do so.
type quarantiner interface {
	// Quarantine takes a block that is out, of an extent as FreeExtent has it, out of
	// use for good. Where it cannot it reports false, and the block stays out.
	Quarantine(b device.Block, extent int32) bool
}

var (
	_ quarantiner = (*directPool)(nil)
	_ quarantiner = (*keyedPool)(nil)
	_ quarantiner = (*sizeclassPool)(nil)
	_ quarantiner = (*bestfitPool)(nil)
	_ quarantiner = (*slabPool)(nil)
	_ quarantiner = (*Check)(nil)
)

// quarantine gives up a block that has no slot any more. Under a strategy that cannot it
// stays out and in the budget, but its pages go back.
func (p *pool) quarantine(a handle.Allocation) {
	if q, ok := p.strategy.(quarantiner); ok && q.Quarantine(a.Block, a.Extent) {
		p.leaks.tookOver(a.Block.Len)
		return
	}
	if r, ok := a.Block.Region.(device.Quarantiner); ok {
		_ = r.Quarantine(a.Block.Off, a.Block.Len) // if it fails the pages stay: a cost, not a fault
	}
}

// giveUp gives the pages of a block that is a region of its own back for good.
func giveUp(up upstream.Checked, b device.Block) bool {
	return up.OwnsRegions() && up.GiveUp(device.Block{Region: b.Region, Len: b.Region.Size()}, up.Footprint(b))
}

// Quarantine takes a block out of use for good.
func (d *directPool) Quarantine(b device.Block, _ int32) bool {
	n := d.up.Footprint(b)
	if !giveUp(d.up, b) {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.usage.sub(b.Len)
	d.usage.RoundingBytes -= n - int64(b.Len)
	return true
}

// Quarantine takes a block out of use for good.
func (k *keyedPool) Quarantine(b device.Block, _ int32) bool {
	at := address{b.Region, b.Off}
	k.mu.Lock()
	a, ok := k.out[at]
	k.mu.Unlock()
	if !ok || a.asked != b.Len || !giveUp(k.up, a.block) {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.out, at)
	k.usage.sub(a.asked)
	k.usage.RoundingBytes -= k.up.Footprint(a.block) - int64(a.asked)
	return true
}

// Quarantine takes a block out of use for good. A slab goes back with its last block.
func (s *sizeclassPool) Quarantine(b device.Block, _ int32) bool {
	at := address{b.Region, b.Off}
	s.mu.Lock()
	a, whole := s.whole[at]
	if !whole {
		defer s.mu.Unlock()
		return s.loseCarved(b)
	}
	s.mu.Unlock()
	if a.asked != b.Len || !giveUp(s.up, a.block) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.whole, at)
	s.usage.sub(b.Len)
	s.usage.RoundingBytes -= s.up.Footprint(a.block) - int64(b.Len)
	return true
}

// loseCarved is Quarantine of a block of a slab. The caller holds the lock.
func (s *sizeclassPool) loseCarved(b device.Block) bool {
	i, ok := s.slabs.Find(b)
	if !ok {
		return false
	}
	v := s.spans.At(i)
	mem := v.Mem.block
	if off := b.Off - mem.Off; !s.spans.IsOut(i, off, b.Len) {
		return false
	}
	s.usage.sub(b.Len)
	s.usage.RoundingBytes -= int64(v.Size - b.Len)
	if s.spans.Lose(i) {
		s.giveUpSlab(i)
	}
	return true
}

// giveUpSlab gives up a slab whose blocks are lost or free. The caller holds the lock.
func (s *sizeclassPool) giveUpSlab(i int32) {
	mem := s.spans.At(i).Mem.block
	if giveUp(s.up, mem) {
		s.excess -= s.up.Footprint(mem) - int64(mem.Len)
		s.slabs.Remove(mem)
		s.spans.Remove(i)
	}
}

// giveUpLost gives up what lost blocks keep from going upstream. The caller holds the lock.
func (s *sizeclassPool) giveUpLost() {
	for _, i := range s.spans.Lost() {
		s.giveUpSlab(i)
	}
}

// Quarantine takes a block out of use for good.
func (p *bestfitPool) Quarantine(b device.Block, extent int32) bool {
	extent = p.lose(b, extent, func(extent int32, off, size int) (bool, int32) {
		return off == 0 && size == p.heap.Size(extent), extent
	})
	return p.isolate(extent)
}

// Quarantine takes a block out of use for good. A slab goes back with its last block.
func (s *slabPool) Quarantine(b device.Block, extent int32) bool {
	extent = s.lose(b, extent, s.loseBlock)
	return s.isolate(extent)
}

// nothing stands for a block that is lost while others of its slab are not.
const nothing = -1

// lose counts a block as lost if find says that it is out. It returns the extent that is
// lost with it, nothing, or 0 if the block is not out.
func (p *bestfitPool) lose(b device.Block, extent int32, find func(extent int32, off, size int) (bool, int32)) int32 {
	p.heap.Lock()
	defer p.heap.Unlock()
	extent, off := p.heap.Locate(b, extent)
	if extent == 0 {
		return 0
	}
	out, with := find(extent, off, b.Len)
	if !out {
		return 0
	}
	p.heap.Shrank(b.Len)
	p.active.sub(b.Len)
	return with
}

// isolate puts the extent that lose has returned in quarantine.
func (p *bestfitPool) isolate(extent int32) bool {
	if extent > 0 {
		p.heap.Quarantine(extent)
	}
	return extent != 0
}

// loseBlock finds a block for lose, of a slab or an extent of its own. The caller holds
// the heap's lock.
func (s *slabPool) loseBlock(extent int32, off, size int) (out bool, with int32) {
	i := s.heap.Span(extent)
	switch {
	case i == 0:
		return off == 0 && size == s.heap.Size(extent), extent
	case !s.spans.IsOut(i, off, size):
		return false, 0
	case !s.spans.Lose(i):
		return true, nothing
	}
	return true, s.spans.Remove(i)
}

// giveUpLost puts slabs in quarantine that lost blocks keep from going back.
func (s *slabPool) giveUpLost() {
	var list []int32
	s.heap.Lock()
	for _, i := range s.spans.Lost() {
		list = append(list, s.spans.Remove(i))
	}
	s.heap.Unlock()
	for _, extent := range list {
		s.heap.Quarantine(extent)
	}
}

// Quarantine reports a dead canary, and takes the block out of use for good with what is
// around it.
func (c *Check) Quarantine(b device.Block, _ int32) bool {
	q, ok := c.upstream.(quarantiner)
	if !ok {
		return false
	}
	k, ok := c.take(b)
	if !ok {
		return false
	}
	if fault := k.fault(); fault != "" {
		c.report(fault)
	}
	if !q.Quarantine(k.outer, 0) {
		c.enter(k)
		return false
	}
	return true
}
