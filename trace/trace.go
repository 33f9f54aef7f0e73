package trace

import (
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"slices"
)

// A Trace is a whole recording in memory, ready to be replayed any number of
// times. It does not change and is safe for concurrent use.
type Trace struct {
	Name          string // the file
	Allocs, Frees int
	PeakLiveBytes int64 // the most bytes that were allocated at a time
	LiveBytes     int64 // allocated and never freed

	// Of a keyed trace, and then all of the above are 0:
	Gets         int   // requests
	LargestBytes int64 // the sum of the largest request of each key

	Warnings []string // what was wrong with the file and is no error

	steps []step
	slots int      // handles that a replay needs at a time
	keys  []string // of Gets, by slot
}

// Keyed reports whether the trace is one of requests to keyed buffers. They
// are replayed through a growpool.Pool, see [Trace.Requests].
func (t *Trace) Keyed() bool { return t.Gets > 0 }

// Keys returns the keys of a keyed trace, in the order of their first requests.
func (t *Trace) Keys() []string { return slices.Clone(t.keys) }

// Requests ranges over the requests of a keyed trace: the key's place in Keys
// and the size in bytes.
func (t *Trace) Requests() iter.Seq2[int, int] {
	return func(yield func(key, size int) bool) {
		for _, s := range t.steps {
			if !t.Keyed() || !yield(int(s.slot), s.size) {
				return
			}
		}
	}
}

// A step is what a replay needs of an op. Its slot is a small number that no
// other live allocation has, so that the handles of a replay are a slice; in a
// keyed trace it is the place of the key.
type step struct {
	slot int32
	size int // bytes; freed for a free
}

// Load reads the trace in a file. It returns a *[SyntaxError] if the contents are
// wrong.
func Load(path string) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	defer f.Close()
	return Read(f, path)
}

// Read reads a whole trace with a [Reader]. The Trace and its errors get the name.
func Read(r io.Reader, name string) (*Trace, error) {
	b := builder{Trace: Trace{Name: name}, slotOf: make(map[uint64]int32), keyOf: make(map[string]int32)}
	rows := NewReader(r, name)
	for op, err := range rows.All() {
		if err != nil {
			return nil, err
		}
		if err := b.add(op); err != nil {
			return nil, fmt.Errorf("trace: %s: %w", name, err)
		}
	}
	b.Warnings = rows.Warnings()
	return &b.Trace, nil
}

// A builder makes a Trace of ops. A new id gets the slot that became free last.
type builder struct {
	Trace
	slotOf  map[uint64]int32
	free    []int32
	keyOf   map[string]int32
	largest []int // request, by key
}

func (b *builder) add(op Op) error {
	if op.Kind == Get {
		return b.addGet(op)
	}
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

func (b *builder) addGet(op Op) error {
	key, known := b.keyOf[op.Key]
	if !known {
		key = int32(len(b.keys))
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
	b.steps = append(b.steps, step{key, op.Size})
	b.Gets++
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
