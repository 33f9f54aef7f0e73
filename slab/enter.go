//go:build !bufslab_portable && !race

package slab

import (
	"runtime"
	"sync/atomic"

	"github.com/bufslab/bufslab/internal/pin"
)

// enter returns the number of the processor, whose shard and magazines are the
// caller's alone until leave. That has to follow in any case; until then the
// caller is pinned, see package pin for what it must not do.
func (k *cache) enter() (id int) { return pin.Pin() }

func (k *cache) leave(int) { pin.Unpin() }

// fence returns when nobody is left on a magazine who has seen its limit as it
// was before. The pinned say that they are busy before they look at a limit,
// with a plain store. After a barrier we see that, or they see the limit; after another
// one, where that takes one, we see what they did until they were no longer busy. (It is Dekker's
// algorithm with the cost on one side.) Where there is no such barrier the
// world is stopped, and the pinned cannot be.
func (k *cache) fence() {
	if !pin.Barrier() {
		pin.Fence()
		return
	}
	for i := range k.shards {
		untilIdle(&k.shards[i].busy)
	}
	for i := range k.mags {
		untilIdle(&k.mags[i].busy)
	}
	if !storesInOrder {
		pin.Barrier()
	}
}

// settle returns when nobody is left on the magazines of s who has seen them as
// they were before.
func (k *cache) settle(s *shard) {
	if !pin.Barrier() {
		pin.Fence()
		return
	}
	for i := range s.mags {
		untilIdle(&s.mags[i].busy)
	}
}

// seize shuts one magazine and reports whether it is the caller's alone until
// yield: not where somebody is there just now, or it would take more than a
// barrier. The caller holds shutting.
func (k *cache) seize(s *shard, m *magazine) bool {
	limit := m.limit.Load()
	if limit < 0 || !m.limit.CompareAndSwap(limit, ^limit) {
		return false
	}
	if pin.Barrier() && atomic.LoadUint32(&s.busy) == 0 && atomic.LoadUint32(&m.busy) == 0 && (storesInOrder || pin.Barrier()) {
		return true
	}
	k.yield(s, m)
	return false
}

// yield opens what was seized. Nobody else changes the limit meanwhile.
func (k *cache) yield(_ *shard, m *magazine) { m.limit.Store(^m.limit.Load()) }

// biasing says that magazines may have a bias: it takes words that are stored
// at once and in order, and who is pinned.
const biasing = runtime.GOARCH == "amd64"

// storesInOrder says that whoever sees a store sees those before it.
const storesInOrder = runtime.GOARCH == "amd64" || runtime.GOARCH == "386"

func untilIdle(busy *uint32) {
	for atomic.LoadUint32(busy) != 0 {
		runtime.Gosched()
	}
}
