package planner

import (
	"cmp"
	"slices"
)

// treeAbove is the number of blocks above which an interval tree finds those that overlap.
// Below, to look at all that are placed is faster: they stand in the order of their offsets.
const treeAbove = 20_000

// A placer places blocks one after the other.
type placer struct {
	blocks []block
	offs   []int64
	placed []int32 // by offset; without a tree
	near   []taken // scratch
	tree   *overlap
	best   bool // gap: the smallest that is large enough, not the lowest
}

func newPlacer(blocks []block) *placer {
	p := &placer{blocks: blocks, offs: make([]int64, len(blocks))}
	if len(blocks) > treeAbove {
		p.tree = newOverlap(blocks)
	}
	return p
}

// clear takes all blocks away.
func (p *placer) clear() {
	p.placed = p.placed[:0]
	if p.tree != nil {
		p.tree.clear()
	}
}

// place gives block i a place, and returns the end of it.
func (p *placer) place(i int32) int64 {
	b := &p.blocks[i]
	off := p.gap(b)
	p.offs[i] = off
	if p.tree != nil {
		p.tree.add(i)
	} else {
		at, _ := slices.BinarySearchFunc(p.placed, off, func(j int32, off int64) int { return cmp.Compare(p.offs[j], off) })
		p.placed = slices.Insert(p.placed, at, i)
	}
	return off + b.size
}

// A taken is the bytes of a placed block.
type taken struct{ off, end int64 }

// gap returns where b goes among those that overlap it.
func (p *placer) gap(b *block) int64 {
	var top, at int64 // the end of what was looked at
	least := int64(-1)
	for _, c := range p.inTheWay(b) {
		if room := c.off - top; room >= b.size && (least < 0 || room < least) {
			if at, least = top, room; !p.best || room == b.size {
				break
			}
		}
		top = max(top, c.end)
	}
	if least < 0 {
		return top
	}
	return at
}

// inTheWay returns what is taken of blocks that overlap b, by offset.
func (p *placer) inTheWay(b *block) []taken {
	p.near = p.near[:0]
	if p.tree == nil {
		for _, j := range p.placed {
			if c := &p.blocks[j]; b.overlaps(c) {
				p.near = append(p.near, taken{p.offs[j], p.offs[j] + c.size})
			}
		}
		return p.near
	}
	p.tree.each(b, func(j int32) { p.near = append(p.near, taken{p.offs[j], p.offs[j] + p.blocks[j].size}) })
	slices.SortFunc(p.near, func(a, b taken) int { return cmp.Compare(a.off, b.off) })
	return p.near
}
