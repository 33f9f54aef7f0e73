//go:build bufslab_portable || race

package slab

import "github.com/bufslab/bufslab/internal/pin"

// enter returns the number of a shard, which is with its magazines the
// caller's alone until leave: here by a lock, as being pinned is not to be had, or is
// not seen by the race detector.
func (k *cache) enter() (id int) {
	id = pin.Pin() % len(k.shards)
	k.shards[id].mu.Lock()
	return id
}

func (k *cache) leave(id int) { k.shards[id].mu.Unlock() }

// fence returns when nobody is left on these shards who has seen the limits of
// their magazines as they were before.
func (k *cache) fence(shards []shard, _ []magazine) {
	for i := range shards {
		shards[i].mu.Lock()
		shards[i].mu.Unlock() //nolint:staticcheck // that it could be had is all
	}
}

// cheapFence reports whether a fence costs less than a block from upstream.
func cheapFence() bool { return true }
