package strategy

import (
	"math/bits"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/align"
	"github.com/bufslab/bufslab/slab/internal/freelist"
	"github.com/bufslab/bufslab/slab/internal/sizeclass"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A Sizeclass is the strategy sizeclass, the default on the Go heap. It rounds sizes up
// to a grid of classes, keeps free blocks by class, and carves small blocks from slabs.
// Above 32 KiB a miss borrows a free block up to twice as large before it goes upstream, and
// rather than a smaller one that was released on another processor. With max_bytes it borrows
// blocks up to a quarter larger, and slabs are smaller, too. No block is ever split or merged,
// so it is the fastest strategy, at the price of some free memory in each class.
//
// Classes are those of slab.Grid with the same steps and alignment: powers of two are
// exact, and unless it is borrowed a block is larger than asked by less than
// size/steps, or align. Sizes beyond the grid are not held. Alloc and Free take
// constant time.
//
//	sizeclass.go             Alloc
//	sizeclass_free.go        blocks that Free holds, and blocks that go back upstream
//	sizeclass_quarantine.go  blocks that are taken out of use
type Sizeclass struct {
	keeper   // its blocks are whole, among them slabs that were empty
	grid     *sizeclass.Grid
	borrow   int   // number of larger classes that may serve a size
	align    int   // of blocks; the heap aligns by size
	maxHeld  int64 // bytes of whole blocks and free blocks of slabs that may be held
	lastSlab int   // the largest slab
	maxKept  int64 // larger blocks are not held, not even in an empty slab

	slabs slabs // of the classes up to CarveLimit; under keeper.mu
}

var _ Strategy = (*Sizeclass)(nil)

const (
	// CarveLimit is the largest block that shares a slab. For larger blocks a
	// region each costs the collector next to nothing.
	CarveLimit = 32 << 10
	// Slabs begin small and grow with their class, so that the collector has few
	// of them: with slabs of 64 KiB it works twice as long as with 256 KiB.
	firstSlab, lastSlab = 16 << 10, 256 << 10
	// pageSlab is the largest slab for blocks of a page and more, as 256 KiB have
	// only a few of these.
	pageSlab = 1 << 20
	// leastBlocks is the least number of blocks worth a slab.
	leastBlocks = 4
	// A budget has to serve other sizes, too. So a slab is a small part of it, as an active block keeps
	// its whole slab, and borrowed blocks are at most a quarter larger.
	budgetSlabs = 2048
	// leastWhole is the least size of a block that no class has.
	leastWhole = 64
)

// NewSizeclass returns a Sizeclass over up, of that many steps a doubling, whose blocks are
// aligned to a power of two, for a pool that may have budget bytes; 0 is no bound.
func NewSizeclass(up upstream.Checked, steps, to int, budget int64, o freelist.Options) *Sizeclass {
	o.Ordered = true
	g := sizeclass.NewGrid(steps, to)
	s := &Sizeclass{
		keeper: newKeeper(up, o), grid: g, borrow: steps, align: max(to, 1),
		maxHeld: o.MaxBytes, maxKept: o.MaxBlockBytes,
		lastSlab: pageSlab,
	}
	if budget > 0 {
		s.borrow, s.lastSlab = max(1, steps/4), int(max(firstSlab, min(pageSlab, budget/budgetSlabs)))
	}
	s.slabs = newSlabs(up, carvedClasses(g, min(CarveLimit, s.lastSlab/leastBlocks)))
	s.Voucher = upstream.Vouch() // as most blocks are cut
	s.gather, s.hold = s.gatherSlabs, s.holdBlock
	return s
}

// carvedClasses is the number of classes with blocks up to about limit; 0 if the alignment is larger.
func carvedClasses(g *sizeclass.Grid, limit int) int {
	if g.Size(0) > limit {
		return 0
	}
	return g.Index(limit) + 1
}

// Alloc returns a block of size bytes; see slab.Allocator.
func (s *Sizeclass) Alloc(size int) (device.Block, error) {
	if err := upstream.CheckSize(size); err != nil || size == 0 {
		return device.Block{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	class := s.grid.Index(size)
	if 0 <= class && class < s.slabs.Classes() {
		return s.allocCarved(class, size)
	}
	return s.allocWhole(class, size)
}

// allocCarved takes a block of a slab, of a new slab if need be. If there is no room
// for a slab, it takes any larger free block.
func (s *Sizeclass) allocCarved(class, size int) (device.Block, error) {
	for {
		if b, ok := s.carve(class, size); ok {
			return b, nil
		}
		err := s.addSlab(class)
		if err == nil {
			continue
		}
		if !upstream.OutOfMemory(err) {
			return device.Block{}, err
		}
		for k := class; k < s.slabs.Classes(); k++ {
			if b, ok := s.carve(k, size); ok {
				return b, nil
			}
		}
		return s.allocWhole(class, size)
	}
}

func (s *Sizeclass) carve(class, size int) (device.Block, bool) {
	b, rounding, ok := s.slabs.carve(class, size)
	if ok {
		s.usage.add(size, rounding)
	}
	return b, ok
}

// addSlab makes a whole block a slab of the class. The slab has room for a quarter
// of the class's active blocks, within bounds. Its size is a power of two, so that
// other classes can use it when it is empty.
func (s *Sizeclass) addSlab(class int) error {
	size := s.grid.Size(class)
	n := max(leastBlocks, s.slabs.Live(class)/4)
	last := lastSlab
	if size >= 4<<10 {
		last = pageSlab
	}
	bytes := 1 << bits.Len(uint(min(max(n*size, firstSlab), last, s.lastSlab)-1))
	mem, err := s.obtain(s.grid.Index(bytes), bytes)
	if err != nil {
		return err
	}
	s.slabs.add(class, size, mem)
	return nil
}

// allocWhole hands out a whole block of the upstream.
func (s *Sizeclass) allocWhole(class, size int) (device.Block, error) {
	bytes := size
	if class >= 0 {
		bytes = s.grid.Size(class)
	}
	a, err := s.obtain(class, bytes)
	if exact := max(align.Up(size, s.align), leastWhole); upstream.OutOfMemory(err) && exact < bytes {
		a.key = -1 // too small for its class, so it is not held afterwards
		a.block, err = s.draw(nil, exact)
	}
	if err != nil {
		return device.Block{}, err
	}
	return s.handOut(a, size), nil
}

// obtain returns a whole block of the class, or a borrowed larger block, that was
// held or comes from upstream. It gives the lock back while it is upstream.
func (s *Sizeclass) obtain(class, bytes int) (allocation, error) {
	last := class
	if bytes > CarveLimit {
		last += s.borrow
	}
	if a, ok := s.pop(class, last); ok {
		return a, nil
	}
	b, err := s.draw(nil, bytes)
	for upstream.OutOfMemory(err) {
		if a, ok := s.pop(class, class); ok {
			return a, nil // it came back meanwhile
		}
		leave := s.holdEmpty()
		if victim, ok := s.held.PopVictim(); ok {
			leave = append(leave, victim)
		}
		if len(leave) == 0 {
			break
		}
		b, err = s.draw(leave, bytes)
	}
	return allocation{block: b, key: class}, err
}

// pop returns a held block of the smallest class in lo..hi with held blocks.
func (s *Sizeclass) pop(lo, hi int) (allocation, bool) {
	if lo < 0 {
		return allocation{}, false
	}
	b, key, ok := s.held.PopRange(lo, hi)
	return allocation{block: b, key: key}, ok
}

// draw frees leave and goes upstream for bytes, without the lock that the caller
// holds before and after.
func (s *Sizeclass) draw(leave []device.Block, bytes int) (device.Block, error) {
	s.mu.Unlock()
	defer s.mu.Lock()
	s.free(leave)
	return s.up.Alloc(bytes)
}
