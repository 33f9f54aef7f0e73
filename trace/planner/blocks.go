package planner

import (
	"fmt"
	"iter"
	"math"

	"github.com/bufslab/bufslab/trace"
)

// A block lives from one event of its trace to another one.
type block struct {
	asked      int
	size       int64 // aligned
	start, end int32
	step       int32
}

// overlaps reports whether two blocks live at the same time.
func (b *block) overlaps(c *block) bool { return b.start < c.end && c.start < b.end }

// A recording is what planning needs of a trace.
type recording struct {
	blocks []block // by their start
	steps  int
	floor  int64
}

// read makes blocks of ops. Their ends are not known before: until then they end never.
func read(ops iter.Seq[trace.Op], align int) (r recording, err error) {
	r.steps = 1
	live := map[uint64]int{}
	var bytes int64
	now := int32(0)
	begin := func(op trace.Op) error {
		b := block{asked: op.Size, size: (int64(op.Size) + int64(align) - 1) &^ int64(align-1), start: now, end: math.MaxInt32, step: int32(r.steps - 1)}
		if b.size < 0 || b.size > math.MaxInt64-bytes {
			return fmt.Errorf("planner: %d bytes beside %d, aligned: %w", op.Size, bytes, trace.ErrSize)
		}
		live[op.ID] = len(r.blocks)
		r.blocks = append(r.blocks, b)
		bytes += b.size
		r.floor = max(r.floor, bytes)
		return nil
	}
	end := func(id uint64) {
		if at, is := live[id]; is { // an empty one has no block
			b := &r.blocks[at]
			b.end = now
			bytes -= b.size
			delete(live, id)
		}
	}
	for op := range ops {
		switch {
		case now == math.MaxInt32:
			return r, fmt.Errorf("planner: more than %d events", now)
		case op.Kind == trace.Step:
			r.steps++
		case op.Kind == trace.Get:
			return r, trace.ErrKeyed
		default:
			end(op.ID) // a grow, for a plan, is a free and an allocation
			if op.Kind != trace.Free && op.Size > 0 {
				err = begin(op)
			}
		}
		if err != nil {
			return r, err
		}
		now++
	}
	return r, nil
}
