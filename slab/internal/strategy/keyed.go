package strategy

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/freelist"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A Keyed keeps whole blocks of its upstream for reuse, by a key: the
// mechanism of exact and bitlog, which differ in the key of a size.
type Keyed struct {
	keeper
	// the key of a size, -1 if it is too large to be held, and the size to ask upstream
	class func(size int) (key, blockSize int)
}

var _ Strategy = (*Keyed)(nil)

func newKeyed(up upstream.Checked, o freelist.Options, class func(int) (int, int)) *Keyed {
	k := &Keyed{keeper: newKeeper(up, o), class: class}
	k.hold = k.holdBlock
	return k
}

// Alloc returns a block of size bytes; see slab.Allocator.
func (k *Keyed) Alloc(size int) (device.Block, error) {
	if err := upstream.CheckSize(size); err != nil || size == 0 {
		return device.Block{}, err
	}
	key, blockSize := k.class(size)
	b, ok := k.pop(key)
	if !ok {
		var err error
		if b, err = k.draw(key, blockSize); err != nil {
			return device.Block{}, err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.handOut(allocation{block: b, key: key}, size), nil
}

func (k *Keyed) pop(key int) (device.Block, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held.Pop(key)
}

// draw goes upstream. Out of memory, it gives back one held block after the other,
// looks whether a block of its key has come back meanwhile, and retries.
func (k *Keyed) draw(key, size int) (device.Block, error) {
	b, err := k.up.Alloc(size)
	for upstream.OutOfMemory(err) {
		if b, ok := k.pop(key); ok {
			return b, nil
		}
		victim, ok := k.popVictim()
		if !ok {
			break
		}
		k.free([]device.Block{victim})
		b, err = k.up.Alloc(size)
	}
	return b, err
}

func (k *Keyed) popVictim() (device.Block, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held.PopVictim()
}

// holdBlock is the keeper's hold.
func (k *Keyed) holdBlock(b device.Block) (leave []device.Block, ok bool) {
	a, n, ok := k.takeBack(b)
	if !ok {
		return nil, false
	}
	return k.held.Push(a.key, a.block, n, nil), true
}

// Quarantine takes a block out of use for good.
func (k *Keyed) Quarantine(b device.Block, _ int32) bool { return k.quarantine(b) }
