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

// fence returns when nobody is left on a magazine who has seen its limit as it
// was before.
func (k *cache) fence() {
	for i := range k.shards {
		k.shards[i].mu.Lock()
		k.shards[i].mu.Unlock() //nolint:staticcheck // that it could be had is all
	}
}

// biasing says that magazines may have a bias: not so.
const biasing = false

func (k *cache) settle(*shard) {}

// seize makes a magazine the caller's alone until yield. The caller holds shutting.
func (k *cache) seize(s *shard, m *magazine) bool {
	s.mu.Lock()
	if m.limit.Load() >= 0 {
		return true
	}
	s.mu.Unlock()
	return false
}

func (k *cache) yield(s *shard, _ *magazine) { s.mu.Unlock() }
