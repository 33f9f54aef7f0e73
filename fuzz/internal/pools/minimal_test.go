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

// A mute hides all methods of a strategy but Alloc and Free.
type mute struct {
	mu sync.Mutex
	slab.Allocator
}

func (m *mute) Alloc(size int) (device.Block, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.Allocator.Alloc(size)
}

func (m *mute) Free(b device.Block) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.Allocator.Free(b)
}

func init() {
	slab.Register("mute", func(upstream slab.Allocator, _ slab.Config) slab.Allocator {
		s, err := slab.NewStrategy("bestfit", upstream, slab.Config{})
		if err != nil {
			panic(err)
		}
		return &mute{Allocator: s}
	})
}

// CheckPool does not ask a strategy that holds ranges of addresses for more than Alloc and Free: that it keeps them to
// the end is no fault.
func TestPoolsOfAMuteStrategy(t *testing.T) {
	model.Check(t, Property(func(up slab.Allocator) (*slab.Pool, error) {
		return slab.Open(up, slab.Config{Strategy: "mute"})
	}, model.Defaults()))
}

// A strategy below the pool is a UsageReporter and a Holder, and Stats shows what it has.
func TestPoolsOverAStrategy(t *testing.T) {
	model.Check(t, Property(func(up slab.Allocator) (*slab.Pool, error) {
		s, err := slab.NewStrategy("sizeclass", up, slab.Config{})
		if err != nil {
			return nil, err
		}
		return slab.Open(s, slab.Config{Strategy: "slab"})
	}, model.Defaults()))
}

// CheckPool takes a pool whose strategy is neither a Holder nor a UsageReporter: both are optional.
func TestPoolsOfAStrategyOfTwoMethods(t *testing.T) {
	model.Check(t, Property(func(up slab.Allocator) (*slab.Pool, error) {
		return slab.Open(up, slab.Config{Strategy: "hoard"})
	}, model.Defaults()))
}
