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

// A reading is a recording as far as it is read.
type reading struct {
	recording
	align int64
	live  map[uint64]int // the block of each allocation that is out
	bytes int64
	now   int32
}

// read makes blocks of ops. Their ends are not known before: until then they end never.
func read(ops iter.Seq[trace.Op], align int) (recording, error) {
	r := reading{recording: recording{steps: 1}, align: int64(align), live: map[uint64]int{}}
	for op := range ops {
		if err := r.add(op); err != nil {
			return r.recording, err
		}
		r.now++
	}
	return r.recording, nil
}

func (r *reading) add(op trace.Op) error {
	switch {
	case r.now == math.MaxInt32:
		return fmt.Errorf("planner: more than %d events", r.now)
	case op.Kind == trace.Step:
		r.steps++
		return nil
	case op.Kind == trace.Get:
		return trace.ErrKeyed
	}
	r.end(op.ID) // a grow, for a plan, is a free and an allocation
	if op.Kind != trace.Free && op.Size > 0 {
		return r.begin(op)
	}
	return nil
}

func (r *reading) begin(op trace.Op) error {
	b := block{asked: op.Size, size: (int64(op.Size) + r.align - 1) &^ (r.align - 1), start: r.now, end: math.MaxInt32, step: int32(r.steps - 1)}
	if b.size < 0 || b.size > math.MaxInt64-r.bytes {
		return fmt.Errorf("planner: %d bytes beside %d, aligned: %w", op.Size, r.bytes, trace.ErrSize)
	}
	r.live[op.ID] = len(r.blocks)
	r.blocks = append(r.blocks, b)
	r.bytes += b.size
	r.floor = max(r.floor, r.bytes)
	return nil
}

func (r *reading) end(id uint64) {
	if at, is := r.live[id]; is { // an empty one has no block
		b := &r.blocks[at]
		b.end = r.now
		r.bytes -= b.size
		delete(r.live, id)
	}
}
