package strategy

import (
	"sync"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/freelist"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A keeper is what strategies have in common that keep whole blocks of their upstream
// in one list.
type keeper struct {
	upstream.Voucher
	up upstream.Checked

	mu    sync.Mutex
	held  *freelist.List
	usage Usage // of what is out
}

func newKeeper(up upstream.Checked, o freelist.Options) keeper {
	return keeper{Voucher: up.Voucher(), up: up, held: freelist.New(o)}
}

// free gives blocks upstream, without the lock.
func (k *keeper) free(leave []device.Block) { k.up.FreeAll(leave, k.strand) }

// strand holds blocks again that the upstream would not take.
func (k *keeper) strand(left []device.Block) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, b := range left {
		k.held.Strand(b, k.up.Footprint(b))
	}
}

// FreeHeld gives all held blocks upstream.
func (k *keeper) FreeHeld() {
	k.mu.Lock()
	leave := k.held.Clear(nil)
	k.mu.Unlock()
	k.free(leave)
}

// StopHolding is FreeHeld, and from now on blocks go upstream when they come back.
func (k *keeper) StopHolding() {
	k.mu.Lock()
	leave := k.held.Stop(nil)
	k.mu.Unlock()
	k.free(leave)
}

// Trim ends an epoch; see slab.Trimmer.
func (k *keeper) Trim(idle int) int64 {
	k.mu.Lock()
	before := k.held.Bytes()
	leave := k.held.Trim(idle, nil)
	n := before - k.held.Bytes()
	k.mu.Unlock()
	k.free(leave)
	return n
}

// Usage reports where the managed bytes are.
func (k *keeper) Usage() Usage {
	k.mu.Lock()
	defer k.mu.Unlock()
	u := k.usage
	u.HeldBlocks, u.HeldBytes = int64(k.held.Blocks()), k.held.Bytes()
	return u
}
