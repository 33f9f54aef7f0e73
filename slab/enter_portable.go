//go:build bufslab_portable || race

package slab

import "github.com/bufslab/bufslab/internal/pin"

// enter returns a shard, for the caller alone until leave: here by a lock, as
// being pinned is not to be had, or is not seen by the race detector.
func (k *cache) enter() *shard {
	s := &k.shards[pin.Pin()%len(k.shards)]
	s.mu.Lock()
	return s
}

func (k *cache) leave(s *shard) { s.mu.Unlock() }

// fence returns when nobody is left on a shard who has seen its limit as it
// was before.
func (k *cache) fence() {
	for i := range k.shards {
		k.shards[i].mu.Lock()
		k.shards[i].mu.Unlock() //nolint:staticcheck // that it could be had is all
	}
}
