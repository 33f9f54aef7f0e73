package slab

import (
	"sync"

	"github.com/bufslab/bufslab/device"
)

// A keeper keeps whole blocks of its upstream for reuse, by a key: the
// mechanism of exact and bitlog, which differ in what the key of a size is.
type keeper struct {
	upstream Allocator
	own      bool                                // see ownRegions
	class    func(size int) (key, blockSize int) // the key of a size, -1 if it is too large to be held, and what to ask the upstream for

	mu    sync.Mutex
	shelf shelf
	out   map[spot]loan
	usage Usage // of what is out
}

// A spot is where a block begins.
type spot struct {
	region device.Region
	off    int
}

// A loan is a block of the upstream in a caller's hands.
type loan struct {
	block device.Block
	key   int
	asked int
}

func newKeeper(upstream Allocator, s shelf, class func(int) (int, int)) keeper {
	return keeper{upstream: upstream, own: ownRegions(upstream), class: class, shelf: s, out: map[spot]loan{}}
}

// Alloc returns a block of size bytes; see [Allocator].
func (k *keeper) Alloc(size int) (device.Block, error) {
	if err := checkSize(size); err != nil || size == 0 {
		return device.Block{}, err
	}
	key, blockSize := k.class(size)
	b, ok := k.take(key)
	if !ok {
		var err error
		if b, err = k.draw(key, blockSize); err != nil {
			return device.Block{}, err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.out[spot{b.Region, b.Off}] = loan{b, key, size}
	k.usage.add(size)
	k.usage.RoundingBytes += footprint(b, k.own) - int64(size)
	return device.Block{Region: b.Region, Off: b.Off, Len: size}, nil
}

func (k *keeper) take(key int) (device.Block, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.shelf.take(key)
}

// draw goes upstream. Out of memory, it lets go of one held block after the
// other, looks whether one of its own key has come back meanwhile, and retries.
func (k *keeper) draw(key, size int) (device.Block, error) {
	b, err := drawWhole(k.upstream, size)
	for outOfMemory(err) {
		k.mu.Lock()
		if b, ok := k.shelf.take(key); ok {
			k.mu.Unlock()
			return b, nil
		}
		victim, ok := k.shelf.takeAny()
		k.mu.Unlock()
		if !ok {
			break
		}
		k.upstream.Free(victim)
		b, err = drawWhole(k.upstream, size)
	}
	return b, err
}

// Free takes a block back; see [Allocator].
func (k *keeper) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	k.mu.Lock()
	at := spot{b.Region, b.Off}
	l, ok := k.out[at]
	if !ok || l.asked != b.Len {
		k.mu.Unlock()
		panic(notOut(b))
	}
	delete(k.out, at)
	n := footprint(l.block, k.own)
	k.usage.sub(l.asked)
	k.usage.RoundingBytes -= n - int64(l.asked)
	var leave []device.Block
	if l.key >= 0 {
		leave = k.shelf.put(l.key, l.block, n, nil)
	} else {
		leave = append(leave, l.block)
	}
	k.mu.Unlock()
	k.free(leave)
}

func (k *keeper) free(leave []device.Block) {
	for _, b := range leave {
		k.upstream.Free(b)
	}
}

// FreeHeld gives all held blocks upstream.
func (k *keeper) FreeHeld() {
	k.mu.Lock()
	leave := k.shelf.shrink(0, 0, nil)
	k.mu.Unlock()
	k.free(leave)
}

// StopHolding is FreeHeld, and from now on blocks go upstream when they come back.
func (k *keeper) StopHolding() {
	k.mu.Lock()
	leave := k.shelf.stop(nil)
	k.mu.Unlock()
	k.free(leave)
}

// Trim ends an epoch; see [Trimmer].
func (k *keeper) Trim(idle int) int64 {
	k.mu.Lock()
	before := k.shelf.bytes
	leave := k.shelf.trim(idle, nil)
	n := before - k.shelf.bytes
	k.mu.Unlock()
	k.free(leave)
	return n
}

// Usage reports where the managed bytes are.
func (k *keeper) Usage() Usage {
	k.mu.Lock()
	defer k.mu.Unlock()
	u := k.usage
	u.HeldBlocks, u.HeldBytes = int64(k.shelf.blocks), k.shelf.bytes
	return u
}
