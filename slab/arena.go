package slab

import (
	"sync"

	"github.com/bufslab/bufslab/device"
)

// An arena is a heap over an upstream: what bestfit and slab have in common.
//
//	arena.go    take and give back chunks; which segment a block lies in
//	grow.go     more memory: extend a range, or add a segment
//	shed.go     less memory: whole segments, or pages of a range
//	heap.go     the chunks and the index of the free ones
//	growth.go   how much to ask for at a time
//
// Methods whose name ends in Locked want mu; those that may go upstream let
// it go meanwhile, under growing, so that others take and give undisturbed.
type arena struct {
	upstream Allocator
	decommit bool
	maxHeld  int64 // negative: hold nothing; no limit: noLimit
	align    int

	growing sync.Mutex // before mu
	mu      sync.Mutex
	heap
	growth
	segs    []segment
	places  uint64           // so far, see segment
	byPlace map[uint64]int32 // chunks that are blocks of their own
	where   locator
	current int32 // the range that grows, or -1
	fixed   bool  // the upstream has said that it cannot extend
	managed int64
	excess  int64 // what regions have beyond the segments asked for
	own     bool  // see ownRegions

	asked       Usage // its ActiveBlocks and ActiveBytes only
	activeBytes int64 // of active chunks that are blocks of their own
	freedLast   int32
}

// A segment is a region of the upstream: a range that grows at its edge, or
// a block of fixed size.
type segment struct {
	block      device.Block // of a range: all of its addresses
	rng        device.Range
	edge       int32
	usedChunks int
	place      uint64    // of its first byte; no two bytes of segments have the same
	slabs      slabIndex // its chunks that are slabs, of a [Slab]
}

func newArena(upstream Allocator, c Config, align int) arena {
	return arena{
		upstream: upstream,
		decommit: c.Decommit,
		maxHeld:  heldLimit(c.MaxHeld),
		align:    align,
		byPlace:  map[uint64]int32{},
		heap:     newHeap(align),
		growth:   newGrowth(c.MissTarget),
		where:    newLocator(),
		current:  -1,
		own:      ownRegions(upstream),
	}
}

// takeLocked returns a used chunk of at least size bytes.
func (a *arena) takeLocked(size int) (int32, error) {
	n := roundUp(size, a.align)
	for {
		if i := a.find(free, n); i != none {
			return a.useLocked(i, n, size), nil
		}
		a.mu.Unlock()
		err := a.grow(n)
		a.mu.Lock()
		if err == nil {
			continue
		}
		if i := a.scan(free, listOf(uint(n/a.align)), n, maxInt); i != none && outOfMemory(err) {
			return a.useLocked(i, n, size), nil // too deep in its list for find
		}
		return none, err
	}
}

func (a *arena) useLocked(i int32, n, size int) int32 {
	a.use(i, n, size)
	a.segs[a.at(i).seg].usedChunks++
	return i
}

// giveLocked takes the chunk i back and returns the free chunk it became part of.
func (a *arena) giveLocked(i int32) int32 {
	a.segs[a.at(i).seg].usedChunks--
	return a.merge(i, free)
}

// segmentLocked returns the segment that b lies in and b's offset there, or -1.
func (a *arena) segmentLocked(b device.Block) (seg int32, off int) {
	s, ok := a.where.find(b)
	if !ok {
		return -1, 0
	}
	return s, b.Off - a.segs[s].block.Off
}

// addLocked enters a region of the upstream as a segment without chunks.
func (a *arena) addLocked(s segment) int32 {
	i := int32(len(a.segs))
	for k := range a.segs {
		if a.segs[k].block.Region == nil {
			i = int32(k)
			break
		}
	}
	if int(i) == len(a.segs) {
		a.segs = append(a.segs, segment{})
	}
	s.edge, s.place = a.segment(i), a.places
	a.places += uint64(s.block.Len)
	a.segs[i] = s
	a.where.add(s.block, i)
	return i
}

// removeLocked forgets segment s, which has no used chunk.
func (a *arena) removeLocked(s int32) segment {
	seg := a.segs[s]
	for i := seg.edge; i != none; {
		prev := a.at(i).prev
		if s := a.at(i).state; s == free || s == hole {
			a.unlist(i)
		}
		a.forget(i)
		i = prev
	}
	a.where.remove(seg.block)
	if a.current == s {
		a.current = -1
	}
	a.segs[s] = segment{}
	return seg
}

// allocLocked hands out a chunk of its own as a block.
func (a *arena) allocLocked(size int) (device.Block, error) {
	i, err := a.takeLocked(size)
	if err != nil {
		return device.Block{}, err
	}
	c := a.at(i)
	a.byPlace[a.placeLocked(c.seg, c.off)] = i
	a.activeBytes += int64(c.len)
	return a.blockLocked(c, 0, size), nil
}

// placeLocked is one number for a segment and an offset: maps of those are quicker.
func (a *arena) placeLocked(seg int32, off int) uint64 { return a.segs[seg].place + uint64(off) }

// blockLocked returns the n bytes from off of a chunk as the upstream's.
func (a *arena) blockLocked(c *chunk, off, n int) device.Block {
	seg := a.segs[c.seg].block
	return device.Block{Region: seg.Region, Off: seg.Off + c.off + off, Len: n}
}

// lookupLocked returns the chunk that b is, or none.
func (a *arena) lookupLocked(b device.Block) int32 {
	s, off := a.segmentLocked(b)
	if s < 0 {
		return none
	}
	if i := a.byPlace[a.placeLocked(s, off)]; i != none && a.at(i).asked == b.Len {
		return i
	}
	return none
}

// freeLocked takes a chunk of its own back.
func (a *arena) freeLocked(i int32) {
	c := a.at(i)
	delete(a.byPlace, a.placeLocked(c.seg, c.off))
	a.activeBytes -= int64(c.len)
	a.freedLast = a.giveLocked(i)
}

// settle unlocks mu after a Free, and gives memory back where more is held than
// may be: the chunk freed last, then segments, then the largest chunks.
func (a *arena) settle() {
	over, i := a.index[free].bytes > a.maxHeld, a.freedLast
	a.mu.Unlock()
	if !over {
		return
	}
	a.growing.Lock()
	defer a.growing.Unlock()
	a.giveBack(i)
	if n, _ := a.overHeld(); n > 0 {
		a.shedSegments(n)
	}
	for n, i := a.overHeld(); n > 0 && i != none && a.giveBack(i) > 0; {
		n, i = a.overHeld()
	}
}

// overHeld returns the bytes that are held beyond what may be, and a chunk
// that is among the largest of them.
func (a *arena) overHeld() (int64, int32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.index[free].bytes - a.maxHeld, a.largest(free)
}

// FreeHeld gives regions that are wholly free upstream, and free pages within ranges.
func (a *arena) FreeHeld() {
	a.growing.Lock()
	defer a.growing.Unlock()
	a.shed(0)
}

// StopHolding is FreeHeld, and from now on memory goes upstream as soon as it can.
func (a *arena) StopHolding() {
	a.mu.Lock()
	a.maxHeld = 0
	a.mu.Unlock()
	a.FreeHeld()
}

// Trim ends an epoch; see [Trimmer].
func (a *arena) Trim(idle int) int64 {
	a.growing.Lock()
	defer a.growing.Unlock()
	n := a.shed(uint32(idle))
	a.mu.Lock()
	a.epoch++
	a.mu.Unlock()
	return n
}
