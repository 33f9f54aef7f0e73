//go:build !bufslab_portable && !race

package slab

import "github.com/bufslab/bufslab/internal/pin"

// enter returns the processor's shard, for the caller alone until leave, or
// nil if it has none: GOMAXPROCS was raised above what there was. Until leave,
// which has to follow in any case, the caller is pinned; see package pin for
// what it must not do.
func (k *cache) enter() *shard {
	if id := pin.Pin(); id < len(k.shards) {
		return &k.shards[id]
	}
	return nil
}

func (k *cache) leave(*shard) { pin.Unpin() }

// fence returns when nobody is left on a shard who has seen its limit as it
// was before.
func (k *cache) fence() { pin.Fence() }
