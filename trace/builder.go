package trace

import (
	"cmp"
	"fmt"
	"io"
	"math"
)

// A builder makes chunks of what a Reader reads, and counts.
type builder struct {
	Trace
	rows            *Reader
	sizes           []int // of the live allocations, by slot
	keyOf           map[string]uint32
	largest         []int // request, by key
	threads, stream names
}

func newBuilder(rows *Reader) *builder {
	return &builder{Trace: Trace{Name: rows.file}, rows: rows, keyOf: map[string]uint32{}}
}

// next returns the next events, or io.EOF if there are none.
func (b *builder) next() (*chunk, error) {
	c := &chunk{}
	if b.Events() > 0 { // most recordings are shorter than a chunk
		c.steps = make([]step, 0, chunkSteps)
	}
	var op Op
	for len(c.steps) < chunkSteps {
		slot, err := b.rows.next(&op)
		if err == io.EOF && len(c.steps) > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		if b.tells(&op) {
			continue
		}
		if err := b.row(c, slot, &op); err != nil {
			return nil, b.rows.readError(err)
		}
	}
	b.slots = len(b.rows.live.sizes)
	return c, nil
}

// tells notes what a row says of the pool, and reports whether it is such a row.
func (b *builder) tells(op *Op) bool {
	switch op.Kind {
	case Pledge:
		b.Promise = b.Promise.with(op.Promise())
	case On:
		b.Device = cmp.Or(b.Device, op.Key)
	default:
		return false
	}
	return true
}

// row adds an event to a chunk.
func (b *builder) row(c *chunk, slot uint32, op *Op) error {
	if err := b.add(c, slot, op); err != nil {
		return err
	}
	room := cap(c.steps)
	c.times.add(op.TimeNS, room)
	c.threads.add(int64(b.threads.number(op.Thread, &b.Trace.threads)), room)
	c.streams.add(int64(b.stream.number(op.Stream, &b.Trace.streams)), room)
	return nil
}

func (b *builder) add(c *chunk, slot uint32, op *Op) error {
	switch op.Kind {
	case Get:
		return b.addGet(c, op)
	case Free:
		c.steps = append(c.steps, step{slot, freed})
		b.Frees++
		b.LiveBytes -= int64(op.Size)
		return nil
	case Grow:
		if err := b.lives(slot, op.Size, b.sizes[slot]); err != nil {
			return err
		}
		c.add(slot|grows, op.Size)
		b.Grows++
		return nil
	}
	if err := b.lives(slot, op.Size, 0); err != nil {
		return err
	}
	c.add(slot, op.Size)
	b.Allocs++
	return nil
}

// lives counts that a slot has size bytes live, where it had others before.
func (b *builder) lives(slot uint32, size, before int) error {
	live := b.LiveBytes - int64(before)
	if int64(size) > math.MaxInt64-live {
		return fmt.Errorf("%d bytes on top of %d live: %w", size, live, ErrSize)
	}
	if int(slot) >= len(b.sizes) {
		b.sizes = append(b.sizes, make([]int, int(slot)+1-len(b.sizes))...)
	}
	b.sizes[slot] = size
	b.LiveBytes = live + int64(size)
	b.PeakLiveBytes = max(b.PeakLiveBytes, b.LiveBytes)
	return nil
}

func (b *builder) addGet(c *chunk, op *Op) error {
	key, known := b.keyOf[op.Key]
	if !known {
		key = uint32(len(b.keys))
		b.keyOf[op.Key] = key
		b.keys = append(b.keys, op.Key)
		b.largest = append(b.largest, 0)
	}
	more := max(0, op.Size-b.largest[key])
	if int64(more) > math.MaxInt64-b.LargestBytes {
		return fmt.Errorf("%d bytes on top of %d for all keys: %w", more, b.LargestBytes, ErrSize)
	}
	b.largest[key] += more
	b.LargestBytes += int64(more)
	c.add(key, op.Size)
	b.Gets++
	return nil
}
