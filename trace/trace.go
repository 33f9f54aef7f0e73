package trace

import (
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
)

// A Trace is a whole recording in memory, ready to be replayed any number of
// times. It does not change and is safe for concurrent use. An event takes 8 bytes; 8 more
// where the recording has times, 4 each where it has several threads and streams.
type Trace struct {
	Name          string // the file
	Allocs, Frees int
	Grows         int   // of allocations that went on with another size
	PeakLiveBytes int64 // the most bytes that were allocated at a time
	LiveBytes     int64 // allocated and never freed

	// Of a keyed trace, and then all of the above are 0:
	Gets         int   // requests
	LargestBytes int64 // the sum of the largest request of each key

	Promise  Promise  // of the pool, for all rows of the recording
	Device   string   // that the pool drew on, as device.Open takes it; "" of a log, or of an older recording
	Warnings []string // what was wrong with the file and is no error

	chunks  []*chunk
	slots   int      // handles that a replay needs at a time
	keys    []string // of Gets, by slot
	threads []uint64 // in the order in which they came
	streams []uint64
}

// Keyed reports whether the trace is one of requests to keyed buffers. They
// are replayed through a growpool.Pool, see [Trace.Requests].
func (t *Trace) Keyed() bool { return t.Gets > 0 }

// Events returns how many rows there are: allocations, frees, grows and requests.
func (t *Trace) Events() int { return t.Allocs + t.Frees + t.Grows + t.Gets }

// Threads returns how many threads the recording has, 1 where it has none: of a recording of a pool,
// the processors that its calls ran on.
func (t *Trace) Threads() int { return max(1, len(t.threads)) }

// Keys returns the keys of a keyed trace, in the order of their first requests.
func (t *Trace) Keys() []string { return slices.Clone(t.keys) }

// Requests ranges over the requests of a keyed trace: the key's place in Keys
// and the size in bytes.
func (t *Trace) Requests() iter.Seq2[int, int] {
	return func(yield func(key, size int) bool) {
		for _, c := range t.chunks {
			for _, s := range c.steps {
				if !t.Keyed() || !yield(int(s.slot), c.size(s)) {
					return
				}
			}
		}
	}
}

// Ops ranges over all events, without rows that are in Promise and Device, as a [Reader] of the recording does, but for
// what a Trace does not keep: an ID is a small number that no other live allocation has, whatever it was in the file,
// and of keys only those of requests are left.
func (t *Trace) Ops() iter.Seq[Op] {
	return func(yield func(Op) bool) {
		sizes := make([]int, t.slots)
		for _, c := range t.chunks {
			for i := range c.steps {
				if !yield(t.op(c, i, sizes)) {
					return
				}
			}
		}
	}
}

// op returns event i of a chunk. sizes has those of the live allocations.
func (t *Trace) op(c *chunk, i int, sizes []int) Op {
	s := c.steps[i]
	op := Op{Kind: Free, ID: uint64(s.slot), Thread: t.threads[c.threads.at(i)], Stream: t.streams[c.streams.at(i)],
		TimeNS: c.times.at(i)}
	switch {
	case t.Keyed():
		op.Kind, op.ID, op.Key, op.Size = Get, 0, t.keys[s.slot], c.size(s)
	case s.size == freed:
		op.Size = sizes[s.slot]
	default:
		op.Kind, op.Size = Alloc, c.size(s)
		slot, is := s.grow()
		if is {
			op.Kind, op.ID = Grow, uint64(slot)
		}
		sizes[slot] = op.Size
	}
	return op
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
	b := newBuilder(NewReader(r, name))
	for {
		c, err := b.next()
		if err == io.EOF {
			b.Warnings = b.rows.Warnings()
			return &b.Trace, nil
		}
		if err != nil {
			return nil, err
		}
		b.chunks = append(b.chunks, c)
	}
}
