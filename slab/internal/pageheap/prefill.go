package pageheap

import "github.com/bufslab/bufslab/slab/internal/align"

// Prefill gets n bytes from upstream at once, as free memory: in one range, or as one
// segment if there are no ranges. The memory is held like all other free memory.
func (h *Heap) Prefill(n int) error {
	h.growMu.Lock()
	defer h.growMu.Unlock()
	return h.growOnce(align.Up(n, h.align), true)
}

// Extends reports whether n bytes would be in a range, which can grow behind them, and not a segment.
func (h *Heap) Extends(n int) bool {
	h.growMu.Lock()
	defer h.growMu.Unlock()
	_, err := h.place(align.Up(n, h.align), true)
	return err == nil
}

// Reserve has the first segment reach up to n bytes. It fails if the heap has begun with a segment
// that is no range of at least n addresses. The caller holds the lock, which is given back while
// the heap goes upstream.
func (h *Heap) Reserve(n int) error {
	return h.unlocked(func() error {
		h.growMu.Lock()
		defer h.growMu.Unlock()
		more, ok := h.missing(n)
		switch {
		case !ok:
			return errNoneAfter
		case more == 0:
			return nil
		}
		return h.growOnce(align.Up(more, h.align), true)
	})
}

// Expect has the next range be as long as one for a block of n bytes, for a Reserve to come.
// The caller holds the lock.
func (h *Heap) Expect(n int) { h.expected = n }

// missing returns the bytes that have to be free at the end of the first segment, so that it reaches
// up to n, and whether that is possible.
func (h *Heap) missing(n int) (more int, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.managed == 0 {
		return n, true
	}
	switch more = n - h.at(h.segs[0].end).off; {
	case more <= 0:
		return 0, true
	case h.current != 0:
		return 0, false
	}
	return more + h.freeLen(h.top(0)), more <= h.room(0)
}
