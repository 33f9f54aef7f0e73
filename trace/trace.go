package trace

import (
	"fmt"
	"io"
	"math"
	"os"
)

// A Trace is a whole recording in memory, ready to be replayed any number of
// times. It does not change and is safe for concurrent use.
type Trace struct {
	Name          string // the file
	Allocs, Frees int
	PeakLiveBytes int64 // the most bytes that were allocated at a time
	LiveBytes     int64 // allocated and never freed

	steps []step
	slots int // handles that a replay needs at a time
}

// A step is an op without what a replay does not use. Its slot is a small
// number that no other live allocation has, so that handles fit an array.
type step struct {
	slot int32
	size int // bytes; freed for a free
}

// Load reads the trace in a file. What is wrong inside it is a *[SyntaxError].
func Load(path string) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	defer f.Close()
	return Read(f, path)
}

// Read reads a whole trace. The name is that of the Trace and of the file in errors.
func Read(r io.Reader, name string) (*Trace, error) {
	b := builder{Trace: Trace{Name: name}, slotOf: make(map[uint64]int32)}
	for op, err := range NewReader(r, name).All() {
		if err != nil {
			return nil, err
		}
		if err := b.add(op); err != nil {
			return nil, fmt.Errorf("trace: %s: %w", name, err)
		}
	}
	return &b.Trace, nil
}

// A builder gives live ids slots, the last that became free first.
type builder struct {
	Trace
	slotOf map[uint64]int32
	free   []int32
}

func (b *builder) add(op Op) error {
	if op.Kind == Free {
		slot := b.slotOf[op.ID]
		delete(b.slotOf, op.ID)
		b.free = append(b.free, slot)
		b.steps = append(b.steps, step{slot, freed})
		b.Frees++
		b.LiveBytes -= int64(op.Size)
		return nil
	}
	if int64(op.Size) > math.MaxInt64-b.LiveBytes {
		return fmt.Errorf("%d bytes on top of %d live: %w", op.Size, b.LiveBytes, ErrSize)
	}
	slot := b.slot()
	b.slotOf[op.ID] = slot
	b.steps = append(b.steps, step{slot, op.Size})
	b.Allocs++
	b.LiveBytes += int64(op.Size)
	b.PeakLiveBytes = max(b.PeakLiveBytes, b.LiveBytes)
	return nil
}

func (b *builder) slot() int32 {
	if n := len(b.free); n > 0 {
		slot := b.free[n-1]
		b.free = b.free[:n-1]
		return slot
	}
	b.slots++
	return int32(b.slots - 1)
}
