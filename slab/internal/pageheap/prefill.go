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
