package slab

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/record"
)

// Record passes allocations through and writes them as a trace: CSV with the
// header op,id,size, a line a,ID,SIZE for each Alloc and f,ID,SIZE for each
// Free. Ids count up from 0 in the order of allocation. Package trace reads
// it, and bufslab replays it over other strategies.
//
// A Record sees what its callers ask for: put it where their calls arrive. Beneath a pool it sees
// blocks, and no pages of ranges. A row is written
// a second after its call at the latest. A Record is safe for concurrent use if its upstream is.
type Record struct {
	forward

	to    *record.Recorder
	mu    sync.Mutex              // of marks
	marks map[device.Block]uint64 // of the whole block: a Free with another Len is of none
}

var _ Allocator = (*Record)(nil)

// NewRecord returns a Record that writes to w, whole rows at a time, from one goroutine at a
// time but any, until Close returns.
func NewRecord(upstream Allocator, w io.Writer) *Record {
	return &Record{forward: newForward(upstream), to: record.To(w, record.Options{}), marks: map[device.Block]uint64{}}
}

// Unwrap returns the upstream.
func (r *Record) Unwrap() Allocator { return r.upstream }

// Alloc returns a block of the upstream. A failed Alloc is not recorded.
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

// Free gives a block to the upstream. It is recorded once, even if that panics.
func (r *Record) Free(b device.Block) {
	r.mu.Lock()
	r.to.Free(r.marks[b], b.Len) // before it goes, as its place may be handed out at once
	delete(r.marks, b)
	r.mu.Unlock()
	r.upstream.Free(b)
}

// Step writes a row that marks the beginning of a step, and passes it on.
func (r *Record) Step() {
	r.to.Step()
	r.forward.Step()
}

// Close writes out what is buffered and returns the first error of w. It does
// not close w. Blocks that are out stay valid; what happens to them is not recorded.
func (r *Record) Close() error { return r.to.Close() }

// WriteRecord writes the last Config.RecordLast events of the pool to w, as a trace that
// begins with what was live before them. It takes memory for all its rows, and the pool may
// be in use. It can be called again, also after Close. Without RecordLast the error wraps
// errors.ErrUnsupported.
func (p *Pool) WriteRecord(w io.Writer) error {
	r := p.opened().leaks.Record
	if p.pool.config.RecordLast == 0 {
		return fmt.Errorf("slab: WriteRecord without record_last: %w", errors.ErrUnsupported)
	}
	return r.WriteLast(w)
}
