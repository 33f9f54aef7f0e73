package slab

import (
	"sync"

	"github.com/bufslab/bufslab/device"
)

// Sizeclass rounds sizes up to a grid of classes, keeps what comes back a
// class, and carves the small ones from slabs. Above 32 KiB a miss borrows a
// free block up to a doubling larger before it goes upstream. It is the
// default on the Go heap: no block is ever split or merged, so it is the
// fastest, at the price of some free memory in each class.
//
// Classes are those of [Grid] with Config.Steps and Align: powers of two are
// exact, and unless it is borrowed a block is larger than asked by less than
// size/steps, or align. Sizes beyond the grid are not held. Sizeclass is safe
// for concurrent use; Alloc and Free take constant time.
type Sizeclass struct {
	upstream Allocator
	own      bool
	grid     Classes
	steps    int
	carved   int // classes below are carved from slabs

	mu     sync.Mutex
	shelf  shelf // whole blocks, among them slabs that are empty
	carver carver[loan]
	slabs  locator
	whole  map[spot]loan
	held   int64 // bytes of whole blocks and empty slabs that may be held
	excess int64 // what slabs have beyond what was asked for
	usage  Usage // of what is out
}

const (
	// carveLimit is the largest block that shares a slab: beyond, a region a
	// block costs the collector next to nothing.
	carveLimit = 32 << 10
	// Slabs begin small and grow with their class, until the collector has
	// few enough of them: with 64 KiB its work is twice that with 256 KiB.
	firstSlab, lastSlab = 16 << 10, 256 << 10
	// pageSlab is the last for blocks of a page and more, of which 256 KiB
	// hold only a few.
	pageSlab = 1 << 20
	// leastBlocks is the least number of blocks worth a slab.
	leastBlocks = 4
)

// NewSizeclass returns a Sizeclass over upstream. Of c it reads Steps, Align,
// MaxHeld, MaxHeldBlocks and MaxBlockBytes.
func NewSizeclass(upstream Allocator, c Config) *Sizeclass {
	c = c.forStrategy("sizeclass", upstream)
	g := Grid(c.Steps, c.Align)
	carved := g.Index(carveLimit) + 1
	return &Sizeclass{
		upstream: upstream, own: ownRegions(upstream), grid: g, steps: c.Steps, carved: carved,
		shelf: newShelf(c, true), carver: newCarver[loan](carved), slabs: newLocator(),
		whole: map[spot]loan{}, held: heldLimit(c.MaxHeld),
	}
}

// Alloc returns a block of size bytes; see [Allocator].
func (s *Sizeclass) Alloc(size int) (device.Block, error) {
	if err := checkSize(size); err != nil || size == 0 {
		return device.Block{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	class := s.grid.Index(size)
	if 0 <= class && class < s.carved {
		return s.allocCarved(class, size)
	}
	return s.allocWhole(class, size)
}

// allocCarved takes a block of a slab, of a new one if need be. When there is
// no room for a slab, anything larger that is free will do.
func (s *Sizeclass) allocCarved(class, size int) (device.Block, error) {
	for {
		if b, ok := s.carve(class, size); ok {
			return b, nil
		}
		err := s.addSlab(class)
		if err == nil {
			continue
		}
		if !outOfMemory(err) {
			return device.Block{}, err
		}
		for k := class; k < s.carved; k++ {
			if b, ok := s.carve(k, size); ok {
				return b, nil
			}
		}
		return s.allocWhole(class, size)
	}
}

func (s *Sizeclass) carve(class, size int) (device.Block, bool) {
	i, off, ok := s.carver.take(class, size)
	if !ok {
		return device.Block{}, false
	}
	v := &s.carver.slabs[i]
	s.usage.add(size)
	s.usage.RoundingBytes += int64(v.size - size)
	b := v.mem.block
	return device.Block{Region: b.Region, Off: b.Off + off, Len: size}, true
}

// addSlab makes a whole block a slab of the class: for a quarter as many
// blocks as the class has out, within bounds, and a power of two, so that other classes can
// use it when it is empty.
func (s *Sizeclass) addSlab(class int) error {
	size := s.grid.Size(class)
	n := max(leastBlocks, s.carver.classes[class].live/4)
	last := lastSlab
	if size >= 4<<10 {
		last = pageSlab
	}
	bytes := 1 << bitLen(uint(min(max(n*size, firstSlab), last)-1))
	mem, err := s.obtain(s.grid.Index(bytes), bytes)
	if err != nil {
		return err
	}
	s.slabs.add(mem.block, s.carver.add(class, size, mem.block.Len, mem))
	s.excess += footprint(mem.block, s.own) - int64(mem.block.Len)
	return nil
}

// allocWhole hands out a block of its own.
func (s *Sizeclass) allocWhole(class, size int) (device.Block, error) {
	ask := size
	if class >= 0 {
		ask = s.grid.Size(class)
	}
	l, err := s.obtain(class, ask)
	if err != nil {
		return device.Block{}, err
	}
	l.asked = size
	b := l.block
	s.whole[spot{b.Region, b.Off}] = l
	s.usage.add(size)
	s.usage.RoundingBytes += footprint(b, s.own) - int64(size)
	return device.Block{Region: b.Region, Off: b.Off, Len: size}, nil
}

// obtain returns a whole block of the class, or a borrowed larger one, from
// the shelf or from upstream. It lets mu go while it is upstream.
func (s *Sizeclass) obtain(class, bytes int) (loan, error) {
	if l, ok := s.fromShelf(class, class); ok {
		return l, nil
	}
	if class >= 0 && bytes > carveLimit { // below class 0 all others are smaller, not larger
		if l, ok := s.fromShelf(class+1, class+s.steps); ok {
			return l, nil
		}
	}
	b, err := s.upstreamAlloc(bytes)
	for outOfMemory(err) {
		if l, ok := s.fromShelf(class, maxInt); ok {
			return l, nil // it came back meanwhile, or is far too large but there
		}
		leave := s.shelveEmpty()
		if victim, ok := s.shelf.takeAny(); ok {
			leave = append(leave, victim)
		}
		if len(leave) == 0 {
			break
		}
		s.mu.Unlock()
		s.free(leave)
		s.mu.Lock()
		b, err = s.upstreamAlloc(bytes)
	}
	return loan{block: b, key: class}, err
}

func (s *Sizeclass) fromShelf(lo, hi int) (loan, bool) {
	if lo < 0 {
		return loan{}, false
	}
	b, key, ok := s.shelf.takeBetween(lo, hi)
	return loan{block: b, key: key}, ok
}

func (s *Sizeclass) upstreamAlloc(bytes int) (device.Block, error) {
	s.mu.Unlock()
	defer s.mu.Lock()
	return drawWhole(s.upstream, bytes)
}
