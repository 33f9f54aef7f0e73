package slab

import (
	"math"

	"github.com/bufslab/bufslab/device"
)

// A shelf holds whole blocks of the upstream for reuse: what exact, bitlog and
// sizeclass have in common. Blocks of a key are a stack, last in first out,
// and all blocks are in a queue by age, so that bounds and trims let go of what
// has been held longest. It takes no lock and goes nowhere itself: what has to
// leave is put on a list for the owner to free when it has let go of its own.
//
// A shelf owned by a strategy is bounded by Config.MaxHeld, MaxHeldBlocks and
// MaxBlockBytes.
type shelf struct {
	maxBytes, maxBlock int64
	maxBlocks          int

	items  []shelved // item 0 is the queue's end: its next is the oldest, its prev the youngest
	vacant []int32
	tops   map[int]int32
	keys   bitset // that have blocks, if they are dense
	dense  bool
	blocks int
	bytes  int64
	epoch  uint32
}

// A shelved is a block with its place in the queue and in its stack.
type shelved struct {
	block       device.Block
	key         int
	size        int64
	prev, next  int32
	above, down int32
	stamp       uint32
}

// newShelf returns an empty shelf. Dense keys are small numbers in the order of
// their blocks' sizes; only they can be searched.
func newShelf(c Config, dense bool) shelf {
	blocks := c.MaxHeldBlocks
	switch {
	case blocks == 0:
		blocks = math.MaxInt
	case blocks < 0:
		blocks = 0
	}
	maxBlock := c.MaxBlockBytes
	if maxBlock <= 0 {
		maxBlock = noLimit
	}
	return shelf{
		maxBytes: heldLimit(c.MaxHeld), maxBlock: maxBlock, maxBlocks: blocks, dense: dense,
		items: make([]shelved, 1), tops: map[int]int32{},
	}
}

// put shelves a block of size bytes, and appends to out what has to leave for
// it: the longest held, or the block itself if it may not be held at all. No key
// is negative: a block that has such a one is never held.
func (s *shelf) put(key int, b device.Block, size int64, out []device.Block) []device.Block {
	if key < 0 || size > s.maxBlock || size > s.maxBytes || s.maxBlocks == 0 {
		return append(out, b)
	}
	i := s.item()
	it := &s.items[i]
	*it = shelved{block: b, key: key, size: size, stamp: s.epoch, down: s.tops[key]}
	if it.down != 0 {
		s.items[it.down].above = i
	}
	s.tops[key] = i
	if s.dense {
		s.keys.set(key)
	}
	last := s.items[0].prev
	it.prev = last
	s.items[last].next = i
	s.items[0].prev = i
	s.blocks++
	s.bytes += size
	return s.shrink(s.maxBlocks, s.maxBytes, out)
}

func (s *shelf) item() int32 {
	if k := len(s.vacant); k > 0 {
		i := s.vacant[k-1]
		s.vacant = s.vacant[:k-1]
		return i
	}
	s.items = append(s.items, shelved{})
	return int32(len(s.items) - 1)
}

// take returns the block of the key that was put last.
func (s *shelf) take(key int) (device.Block, bool) {
	i := s.tops[key]
	if i == 0 {
		return device.Block{}, false
	}
	return s.remove(i), true
}

// takeBetween takes a block of the smallest key in lo..hi that has one.
func (s *shelf) takeBetween(lo, hi int) (b device.Block, key int, ok bool) {
	key = s.keys.next(lo)
	if key < 0 || key > hi {
		return b, 0, false
	}
	return s.remove(s.tops[key]), key, true
}

// takeAny takes a block of the largest key, or the oldest where keys have no
// order: what to part with first when there is no room.
func (s *shelf) takeAny() (device.Block, bool) {
	i := s.items[0].next
	if i == 0 {
		return device.Block{}, false
	}
	if s.dense {
		i = s.tops[s.keys.last()]
	}
	return s.remove(i), true
}

// shrink lets the longest held go until at most so many blocks and bytes are left.
func (s *shelf) shrink(blocks int, bytes int64, out []device.Block) []device.Block {
	for s.blocks > blocks || s.bytes > bytes {
		out = append(out, s.remove(s.items[0].next))
	}
	return out
}

// trim lets go of what has been held for the last idle epochs, and ends one.
func (s *shelf) trim(idle int, out []device.Block) []device.Block {
	for i := s.items[0].next; i != 0 && int64(s.epoch)-int64(s.items[i].stamp) >= int64(idle); i = s.items[0].next {
		out = append(out, s.remove(i))
	}
	s.epoch++
	return out
}

// stop holds nothing from now on.
func (s *shelf) stop(out []device.Block) []device.Block {
	s.maxBlocks = 0
	return s.shrink(0, 0, out)
}

func (s *shelf) remove(i int32) device.Block {
	it := s.items[i]
	s.items[it.prev].next = it.next
	s.items[it.next].prev = it.prev
	if it.down != 0 {
		s.items[it.down].above = it.above
	}
	if it.above != 0 {
		s.items[it.above].down = it.down
	} else {
		s.setTop(it.key, it.down)
	}
	s.blocks--
	s.bytes -= it.size
	s.items[i] = shelved{}
	s.vacant = append(s.vacant, i)
	return it.block
}

func (s *shelf) setTop(key int, i int32) {
	if i != 0 {
		s.tops[key] = i
		return
	}
	delete(s.tops, key)
	if s.dense {
		s.keys.clear(key)
	}
}
