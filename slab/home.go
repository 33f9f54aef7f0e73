package slab

import (
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// A home is what a pool knows of one region in which its strategy has handed
// blocks out: their slots. On the Go heap it also lets go of the memory while
// blocks are out, so that only their views keep it alive; see forget.go.
type home struct {
	pool      *core
	region    device.Region    // nil for buffers of no bytes
	collected device.Collected // nil off the Go heap
	base      unsafe.Pointer   // of host memory that the collector does not own
	out       int              // slots in use
	racks     [][]seat
	alone     *slot          // of a region that is one block
	vacant    []*slot        // of racks, without a block
	tokens    []*slot        // tracked ones without a block
	parked    []device.Block // handed out while the region was being lost
}

// admit gives b, fresh from the strategy, a slot, and returns its address if
// the CPU has one. The slot is nil while the collector is about to report the
// region lost: then b is parked until it has.
func (c *core) admit(b device.Block, class int) (*slot, unsafe.Pointer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.homeLocked(b.Region)
	base := h.base
	if h.collected != nil {
		m := h.collected.Bytes()
		if m == nil {
			h.parked = append(h.parked, b)
			c.parked.add(b.Len)
			return nil, nil
		}
		base = unsafe.Pointer(unsafe.SliceData(m))
		h.collected.Loosen()
	}
	h.out++
	s := h.slotLocked(b)
	s.unmark()
	s.off, s.len, s.class, s.out = b.Off, b.Len, uint16(class), true
	s.plain = class < c.cache.uncached() && c.sites == nil
	return s, s.address(base)
}

// address returns where the slot's block is in memory that begins at base.
func (s *slot) address(base unsafe.Pointer) unsafe.Pointer {
	switch {
	case s.len == 0:
		return unsafe.Pointer(&nothing)
	case base == nil:
		return nil
	}
	return unsafe.Add(base, s.off)
}

// entry returns the slot's block for its next owner.
func (s *slot) entry(base unsafe.Pointer) entry { return entry{s, s.address(base), s.word.Load()} }

// nothing is where buffers of no bytes are.
var nothing byte

// homeLocked returns the home of a region, a new one at its first block. Where
// all blocks are of one range it is always the last one.
func (c *core) homeLocked(r device.Region) *home {
	if h := c.recent; h != nil && h.region == r {
		return h
	}
	h, ok := c.homes[r]
	if !ok {
		h = c.newHomeLocked(r)
	}
	c.recent = h
	return h
}

func (c *core) newHomeLocked(r device.Region) *home {
	h := &home{pool: c, region: r}
	c.homes[r] = h
	if m, ok := r.(device.Collected); ok && c.ledger.own {
		h.collected = m
		m.Watch(func() { c.regionLost(h) })
		return h
	}
	c.cache.plain.Store(min(int64(c.cache.largest), c.untracked()))
	if m, ok := r.(device.HostRegion); ok {
		h.base = unsafe.Pointer(unsafe.SliceData(m.Bytes()))
	}
	return h
}

// untracked is the largest size off the heap that has no token.
func (c *core) untracked() int64 {
	if c.report {
		return 0
	}
	return tokenBytes
}

// slotLocked returns a slot for b.
func (h *home) slotLocked(b device.Block) *slot {
	list := &h.vacant
	if h.tracks(b) {
		list = &h.tokens
		h.pool.valve.out.Add(int64(b.Len))
	}
	if k := len(*list); k > 0 {
		s := (*list)[k-1]
		(*list)[k-1] = nil // or a token would never be lost
		*list = (*list)[:k-1]
		return s
	}
	if list == &h.tokens {
		return newToken(h)
	}
	n := h.region.Size() / max(b.Len, 1)
	if n <= 1 && h.alone == nil {
		h.alone = newSlot(h)
		return h.alone
	}
	rack := newRack(h, n)
	h.racks = append(h.racks, rack)
	for i := len(rack) - 1; i > 0; i-- {
		h.vacant = append(h.vacant, &rack[i].slot)
	}
	return &rack[0].slot
}

// eachSlot calls f with every slot that is no token.
func (h *home) eachSlot(f func(*slot)) {
	if h.alone != nil {
		f(h.alone)
	}
	for _, rack := range h.racks {
		for i := range rack {
			f(&rack[i].slot)
		}
	}
}

// dismiss takes the slot from its block and returns the block for the
// strategy. The caller keeps the memory alive until then.
func (c *core) dismiss(s *slot) device.Block {
	c.mu.Lock()
	defer c.mu.Unlock()
	return s.home().dismissLocked(s)
}

func (h *home) dismissLocked(s *slot) device.Block {
	s.out = false
	if s.token {
		h.pool.valve.out.Add(-int64(s.len))
		h.tokens = append(h.tokens, s)
	} else {
		h.vacant = append(h.vacant, s)
	}
	if h.out--; h.out == 0 && h.collected != nil {
		h.collected.Hold()
	}
	return device.Block{Region: h.region, Off: s.off, Len: s.len}
}

// regionLeft forgets the home of a region that goes upstream. Where regions
// are shared with others, as over an upstream that cuts them, homes stay.
func (c *core) regionLeft(r device.Region) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h, ok := c.homes[r]; ok && h.out == 0 {
		delete(c.homes, r)
		c.recent = nil
		for _, s := range h.tokens {
			s.disarm()
		}
	}
}
