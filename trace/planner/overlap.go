package planner

// An overlap finds the placed blocks that live at the same time as another one: an interval
// tree. The blocks stand in a fixed order, by their start; a node of the tree has the last
// end of the placed ones below it.
type overlap struct {
	blocks []block
	leaves int
	ends   []int32 // ends[1] is the root's; 0 where nothing is placed
}

func newOverlap(blocks []block) *overlap {
	leaves := 1
	for leaves < len(blocks) {
		leaves *= 2
	}
	return &overlap{blocks, leaves, make([]int32, 2*leaves)}
}

func (o *overlap) clear() { clear(o.ends) }

// add places block i.
func (o *overlap) add(i int32) {
	end := o.blocks[i].end
	for n := int(i) + o.leaves; n > 0 && o.ends[n] < end; n /= 2 {
		o.ends[n] = end
	}
}

// each calls f with the placed blocks that overlap b.
func (o *overlap) each(b *block, f func(i int32)) { o.below(1, 0, o.leaves, b, f) }

// below is each for the blocks from first on, n of them, below a node.
func (o *overlap) below(node, first, n int, b *block, f func(i int32)) {
	if o.ends[node] <= b.start || first >= len(o.blocks) || o.blocks[first].start >= b.end {
		return
	}
	if n == 1 {
		f(int32(first))
		return
	}
	o.below(2*node, first, n/2, b, f)
	o.below(2*node+1, first+n/2, n/2, b, f)
}
