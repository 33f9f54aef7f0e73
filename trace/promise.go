package trace

// A Promise is what the pool of a recording has promised to its program, so that no configuration is offered that
// promises less. In a file it is a row p: the alignment as id, and as size the sum of 1 for Zeroed, 2 for Pinned
// and 4 for BySlice. There may be several: what one of them says counts. The zero Promise is that of a log, or of
// an older recording: nothing is known.
type Promise struct {
	Align   int  // of all blocks, in bytes; 0 is the default of each strategy, 64 above 256 bytes
	Zeroed  bool // buffers were cleared
	Pinned  bool // memory was page-locked
	BySlice bool // the program kept slices and no handles: see slab.Pool.GetBytes
}

// The bits of a row.
const (
	zeroed = 1 << iota
	pinned
	bySlice
)

// mostAlign is the largest alignment that a row may have.
const mostAlign = 1 << 30

// Op returns the row of a Promise, for a Writer.
func (p Promise) Op() Op {
	op := Op{Kind: Pledge, ID: uint64(max(0, p.Align))}
	for bit, has := range map[int]bool{zeroed: p.Zeroed, pinned: p.Pinned, bySlice: p.BySlice} {
		if has {
			op.Size |= bit
		}
	}
	return op
}

// Promise returns what a row of the kind Pledge says, and the zero Promise for any other.
func (op Op) Promise() Promise {
	if op.Kind != Pledge {
		return Promise{}
	}
	return Promise{Align: int(min(op.ID, mostAlign)), Zeroed: op.Size&zeroed != 0, Pinned: op.Size&pinned != 0,
		BySlice: op.Size&bySlice != 0}
}

// with returns what both promise.
func (p Promise) with(q Promise) Promise {
	return Promise{max(p.Align, q.Align), p.Zeroed || q.Zeroed, p.Pinned || q.Pinned, p.BySlice || q.BySlice}
}
