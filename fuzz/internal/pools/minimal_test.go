package pools

import (
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/slab"
)

// A hoard is a strategy of no more than two methods, which keeps one block and tells nobody.
type hoard struct {
	mu       sync.Mutex
	upstream slab.Allocator
	kept     device.Block
}

func (h *hoard) Alloc(size int) (device.Block, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b := h.kept; size > 0 && b.Len == size {
		h.kept = device.Block{}
		return b, nil
	}
	if h.kept.Len > 0 {
		h.upstream.Free(h.kept)
		h.kept = device.Block{}
	}
	return h.upstream.Alloc(size)
}

func (h *hoard) Free(b device.Block) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.kept.Len > 0 || b.Len == 0 {
		h.upstream.Free(b)
		return
	}
	h.kept = b
}

func init() {
	slab.Register("hoard", func(upstream slab.Allocator, _ slab.Config) slab.Allocator { return &hoard{upstream: upstream} })
}

// CheckPool takes a pool whose strategy is neither a Holder nor a UsageReporter: both are optional.
func TestPoolsOfAStrategyOfTwoMethods(t *testing.T) {
	model.Check(t, Property(func(up slab.Allocator) (*slab.Pool, error) {
		return slab.Open(up, slab.Config{Strategy: "hoard"})
	}, model.Defaults()))
}
