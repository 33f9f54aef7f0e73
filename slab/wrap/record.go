package wrap

import (
	"io"
	"sync"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/slab/internal/record"
)

// A Record passes allocations through and writes them as a trace: CSV with the
// header op,id,size, a line a,ID,SIZE for each Alloc and f,ID,SIZE for each
// Free. Ids count up from 0 in the order of allocation. Package trace reads
// the trace, and bufslab replays it over other strategies.
//
// A Record records the sizes that its callers ask for: put it directly below the program. A row
// is written a second after its call at the latest. A Record keeps no call sites and no times:
// Config.Record of a pool does.
type Record struct {
	layer

	to    *record.Recorder
	mu    sync.Mutex              // of marks
	marks map[device.Block]uint64 // of the whole block: a Free with another Len is of none
}

var _ slab.Allocator = (*Record)(nil)

// NewRecord returns a Record over an upstream. It writes to w, whole rows at a time, from one
// goroutine at a time but any, until Close returns.
func NewRecord(up slab.Allocator, w io.Writer) *Record {
	return &Record{layer: over(up), to: record.To(w, record.Options{}), marks: map[device.Block]uint64{}}
}

// Alloc returns a block of the upstream. A failed Alloc is not recorded, nor is size 0.
func (r *Record) Alloc(size int) (device.Block, error) {
	if size == 0 {
		return device.Block{}, nil
	}
	b, err := r.upstream.Alloc(size)
	if err != nil || b.Region == nil {
		return b, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.marks[b] = r.to.Alloc(size)
	return b, nil
}

// Free gives a block to the upstream. It is recorded once, even if the upstream panics.
func (r *Record) Free(b device.Block) {
	r.mu.Lock()
	r.to.Free(r.marks[b], b.Len) // before it goes, as its place may be handed out at once
	delete(r.marks, b)
	r.mu.Unlock()
	r.upstream.Free(b)
}

// Close writes the buffered rows and returns the first error of w, again at each later call. It does
// not close w. Active blocks stay valid; later calls are not recorded.
func (r *Record) Close() error { return r.to.Close() }
