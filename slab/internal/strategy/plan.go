package strategy

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/learned"
	"github.com/bufslab/bufslab/slab/internal/pageheap"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A Plan is the strategy plan: a Bestfit that prefers places which were planned for a
// recorded run of the program. The n-th block of a size in a step gets the place of the n-th
// recorded block of that size and step. A hint is never a promise: where the place is not free
// the block goes where it fits best. If lately less than half of the hints were of use, the
// step goes on without hints. Without hints a Plan is a Bestfit.
//
// The memory for the places is taken if the program begins as recorded: if its first block is
// the first of the plan. Blocks smaller than all planned blocks do not count, as a planner leaves
// the smallest out. Otherwise the plan is for another program, and the Plan is a Bestfit.
type Plan struct {
	Bestfit
	bytes int     // that the places need
	least int     // the smallest block that has a place
	steps []step  // the last one serves all further steps; under the heap's lock, as all below
	step  int     // of steps
	begun bool    // the first block was seen
	score float64 // the share of useful hints in this step: a running mean over about scored
}

// A step has the places of a step of the program by size, and the size of its first block.
type step struct {
	first  int
	places map[int]*places
}

// places are the hints for one size in a step.
type places struct {
	offs []int
	next int
}

const (
	scored   = 32  // hints
	minScore = 0.5 // below which hints are of no use for the rest of the step
)

// NewPlan returns a Plan over up that takes bytes for its places.
func NewPlan(up upstream.Checked, o pageheap.Options, hints learned.Plan, bytes int) *Plan {
	o.Numbered = false // places are found by the page map
	p := &Plan{Bestfit: *NewBestfit(up, o), bytes: bytes, least: upstream.MaxSize, score: 1}
	for _, of := range hints {
		p.steps = append(p.steps, newStep(of))
		for _, h := range of {
			p.least = min(p.least, h.Size)
		}
	}
	return p
}

func newStep(hints []learned.Hint) step {
	s := step{places: map[int]*places{}}
	for _, h := range hints {
		if s.first == 0 {
			s.first = h.Size
		}
		if s.places[h.Size] == nil {
			s.places[h.Size] = &places{}
		}
		s.places[h.Size].offs = append(s.places[h.Size].offs, h.Off)
	}
	return s
}

// Step marks the beginning of a step of the program.
func (p *Plan) Step() {
	p.heap.Lock()
	defer p.heap.Unlock()
	p.step = min(p.step+1, max(len(p.steps)-1, 0))
	p.score = 1
	if p.step < len(p.steps) {
		for _, l := range p.steps[p.step].places {
			l.next = 0
		}
	}
}

// Alloc returns a block of size bytes; see slab.Allocator.
func (p *Plan) Alloc(size int) (device.Block, error) {
	b, _, err := p.AllocExtent(size)
	return b, err
}

// AllocExtent is Alloc, with the number of the block's extent.
func (p *Plan) AllocExtent(size int) (device.Block, int32, error) {
	if b, extent, ok := p.allocPlanned(size); ok {
		return b, extent, nil
	}
	return p.Bestfit.AllocExtent(size)
}

// AllocFree returns nothing: AllocExtent has to see every call, in turn.
func (p *Plan) AllocFree(int) (b device.Block, extent int32) { return b, 0 }

// allocPlanned returns a block at the place that is planned for it, if that is free.
func (p *Plan) allocPlanned(size int) (b device.Block, extent int32, ok bool) {
	p.heap.Lock()
	defer p.heap.Unlock()
	if !p.begun {
		p.begin(size)
	}
	off := p.place(size)
	if off < 0 {
		return b, 0, false
	}
	p.score -= p.score / scored
	if extent = p.heap.AllocAt(off, size); extent == 0 {
		return b, 0, false
	}
	p.score += 1.0 / scored
	p.heap.Grew(size)
	p.active.add(size, 0)
	return p.heap.Block(extent, 0, size), extent, true
}

// place returns the offset that is planned for the next block of size bytes, -1 if none is
// or hints are of no use in this step. The caller holds the heap's lock.
func (p *Plan) place(size int) int {
	if !p.begun || len(p.steps) == 0 {
		return -1
	}
	l := p.steps[p.step].places[size]
	if l == nil || l.next == len(l.offs) {
		return -1
	}
	off := l.offs[l.next]
	l.next++
	if p.score < minScore {
		return -1
	}
	return off
}

// begin looks at the first block that is not too small for a place, before the plan has begun.
// It takes the memory for all places. If the block is not the first of the plan, or there is no
// room, it drops the plan for good. So a plan for another program takes no memory. The caller
// holds the heap's lock, which begin gives back meanwhile.
func (p *Plan) begin(size int) {
	if size < p.least {
		p.heap.Expect(p.bytes)
		return
	}
	p.begun = true
	if len(p.steps) == 0 || size != p.steps[p.step].first || p.heap.Reserve(p.bytes) != nil {
		p.steps = nil
	}
}
