package slab

import (
	"runtime"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// How forgotten buffers come back, and never alias.
//
// On the Go heap the collector watches the memory, not the handle: any view of
// any block keeps its region alive. A region that has blocks out is loose:
// nothing of the pool reaches its memory. When the collector finds it
// unreachable, every block of it that is out has been forgotten, and no view
// of one is left; the region takes its memory back and the blocks go
// to the strategy. A block in a processor's cache counts as a view.
//
// Off the heap the collector sees no views. A buffer whose bytes were reached
// by With only, or that has none, comes back when its slot is unreachable:
// a slot in a rack of its own, a token, has a finalizer. If a raw slice
// escaped, somebody may use it still: the block is never handed out again and
// its pages are given back. Tokens cost an object a block, so only blocks
// above tokenBytes have one, and all if Config.OnForget is report.
//
// What streams have used waits for them first, as if it had been released; see
// stream.go.

// tokenBytes is the size above which a block off the heap is worth a token.
const tokenBytes = 32 << 10

// tracks reports whether b wants a token.
func (h *home) tracks(b device.Block) bool {
	return h.collected == nil && (b.Len > tokenBytes || b.Len == 0 || h.pool.report)
}

// regionLost takes back all blocks of a region that nobody can reach.
func (c *core) regionLost(h *home) {
	c.mu.Lock()
	if !h.collected.Hold() {
		c.mu.Unlock()
		return
	}
	back := h.parked
	h.parked = nil
	for _, b := range back {
		c.parked.sub(b.Len)
	}
	base := unsafe.Pointer(unsafe.SliceData(h.collected.Bytes()))
	h.eachSlot(func(s *slot) {
		if !s.out || !s.forget() {
			return
		}
		c.forgotten.add(int(s.asked.Load()))
		c.reportLocked(s)
		if on := c.streams.take(s); on != nil {
			go c.orphaned(s.entry(base), on, false)
			return
		}
		back = append(back, h.dismissLocked(s))
	})
	if h.out > 0 {
		h.collected.Loosen()
	}
	c.mu.Unlock()
	for _, b := range back {
		c.strategy.Free(b)
	}
	c.afterForgetting()
}

// tokenLost takes back the block of a token that nobody can reach.
func (c *core) tokenLost(s *slot) {
	c.mu.Lock()
	if !s.out || !s.forget() {
		c.mu.Unlock()
		return
	}
	c.forgotten.add(int(s.asked.Load()))
	c.reportLocked(s)
	lost := s.escaped.Load()
	if lost {
		c.quarantined.add(s.len)
		c.valve.out.Add(-int64(s.len))
	} else {
		s.arm()
	}
	e := s.entry(s.home().base)
	c.mu.Unlock()
	switch on := c.streams.take(s); {
	case on != nil:
		go c.orphaned(e, on, lost)
	case lost:
		discard(s)
	default:
		c.giveBack(e)
		c.afterForgetting()
	}
}

// orphaned is for what streams have used: they are asked on a goroutine of its
// own, as they may be slow, and others wait for that of the runtime.
func (c *core) orphaned(e entry, on []device.Stream, lost bool) {
	c.await(e, on, lost)
	c.afterForgetting()
}

// discard gives the pages of a block in quarantine back.
func discard(s *slot) {
	if d, ok := s.home().region.(device.Discarder); ok {
		d.Discard(s.off, s.len) // if it fails, the pages stay: a cost, not a fault
	}
}

// forget ends the generation of an owner who is gone.
func (s *slot) forget() bool {
	w := s.word.Load()
	return w&pinMask == 0 && s.word.CompareAndSwap(w, w+nextGen)
}

// afterForgetting does what Config.OnForget=free asks for.
func (c *core) afterForgetting() {
	if c.config.OnForget == "free" {
		c.freeHeld()
	}
}

// newToken returns a slot in a rack of its own that reports when it is lost.
func newToken(h *home) *slot {
	s := newSlot(h)
	s.token = true
	s.arm()
	return s
}

func (s *slot) arm() {
	runtime.SetFinalizer(s.rack1(), func(r *rack1) { r.pool.tokenLost(&r.slot) })
}

func (s *slot) disarm() { runtime.SetFinalizer(s.rack1(), nil) }

func (s *slot) rack1() *rack1 {
	return (*rack1)(unsafe.Pointer(s.rack()))
}
