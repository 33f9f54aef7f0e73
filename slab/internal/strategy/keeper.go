package strategy

import (
	"sync"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/freelist"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// An address is the beginning of a block.
type address struct {
	region device.Region
	off    int
}

func at(b device.Block) address { return address{b.Region, b.Off} }

// An allocation is a block of the upstream in a caller's hands.
type allocation struct {
	block device.Block
	key   int
	asked int
}

// A keeper is the common part of strategies that keep whole blocks of their upstream in
// one list.
type keeper struct {
	upstream.Voucher
	up upstream.Checked

	mu    sync.Mutex
	held  *freelist.List
	out   map[address]allocation
	usage usage // of active blocks
	// gather takes further blocks out of use, to give upstream. It gives up blocks in quarantine
	// only if idle is 0. The caller holds mu.
	gather func(idle int) []device.Block
	// hold holds a block if it is active, and returns the blocks that have to go upstream for it. The caller holds mu.
	hold func(b device.Block) (leave []device.Block, ok bool)
}

func newKeeper(up upstream.Checked, o freelist.Options) keeper {
	return keeper{
		Voucher: up.Voucher(), up: up, held: freelist.New(o), out: map[address]allocation{},
		gather: func(int) []device.Block { return nil },
	}
}

// handOut counts a as active and returns its first size bytes, which were asked for. The caller
// holds mu.
func (k *keeper) handOut(a allocation, size int) device.Block {
	b := a.block
	a.asked = size
	k.out[at(b)] = a
	k.usage.add(size, k.up.Footprint(b)-int64(size))
	return device.Block{Region: b.Region, Off: b.Off, Len: size}
}

// takeBack takes back the allocation that handOut has returned as b, if it is active, with its
// bytes upstream. The caller holds mu.
func (k *keeper) takeBack(b device.Block) (a allocation, bytes int64, ok bool) {
	if a, ok = k.isOut(b); !ok {
		return a, 0, false
	}
	delete(k.out, at(b))
	bytes = k.up.Footprint(a.block)
	k.usage.sub(a.asked, bytes-int64(a.asked))
	return a, bytes, true
}

func (k *keeper) isOut(b device.Block) (a allocation, ok bool) {
	a, ok = k.out[at(b)]
	return a, ok && a.asked == b.Len
}

// Free takes a block back; see slab.Allocator.
func (k *keeper) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	leave, ok := k.lockAndHold(b)
	if !ok {
		panic(upstream.NotOut(b))
	}
	k.free(leave)
}

func (k *keeper) lockAndHold(b device.Block) (leave []device.Block, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.hold(b)
}

// quarantine takes a whole block out of use for good.
func (k *keeper) quarantine(b device.Block) bool {
	k.mu.Lock()
	a, ok := k.isOut(b)
	k.mu.Unlock()
	if !ok || !giveUp(k.up, a.block) {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.takeBack(b)
	return true
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
func (k *keeper) FreeHeld() { k.letGo(0, k.held.Clear) }

// StopHolding is FreeHeld, and from now on memory goes upstream when it comes back.
func (k *keeper) StopHolding() { k.letGo(0, k.held.Stop) }

// Trim ends an epoch; see slab.Trimmer.
func (k *keeper) Trim(idle int) int64 {
	return k.letGo(idle, func(also []device.Block) []device.Block { return k.held.Trim(idle, also) })
}

// Shrink gives back the longest held blocks, n bytes or a block more.
func (k *keeper) Shrink(n int64) {
	k.letGo(0, func(also []device.Block) []device.Block {
		return k.held.ShrinkBytes(max(0, k.held.Bytes()-n), also)
	})
}

// letGo gives upstream the gathered blocks and the blocks that take adds, and returns their bytes.
func (k *keeper) letGo(idle int, take func(also []device.Block) []device.Block) (bytes int64) {
	k.mu.Lock()
	leave := take(k.gather(idle))
	k.mu.Unlock()
	for _, b := range leave {
		bytes += k.up.Footprint(b)
	}
	k.free(leave)
	return bytes
}

// Usage reports where the managed bytes are.
func (k *keeper) Usage() device.Usage {
	k.mu.Lock()
	defer k.mu.Unlock()
	u := device.Usage(k.usage)
	u.HeldBlocks, u.HeldBytes = int64(k.held.Blocks()), k.held.Bytes()
	return u
}

// giveUp gives the pages of a block that is a region of its own back for good.
func giveUp(up upstream.Checked, b device.Block) bool {
	return up.OwnsRegions() && up.GiveUp(device.Block{Region: b.Region, Len: b.Region.Size()}, up.Footprint(b))
}
