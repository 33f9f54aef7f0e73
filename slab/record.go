package slab

import (
	"bufio"
	"io"
	"strconv"
	"sync"

	"github.com/bufslab/bufslab/device"
)

// Record passes allocations through and writes them as a trace: CSV with the
// header op,id,size, a line a,ID,SIZE for each Alloc and f,ID,SIZE for each
// Free. Ids count up from 0 in the order of allocation. Package trace reads
// it, and bufslab replays it over other strategies.
//
// A Record sees what its callers ask for: put it where their calls arrive. It
// is safe for concurrent use if its upstream is.
type Record struct {
	forward

	mu   sync.Mutex
	w    *bufio.Writer
	next int
	ids  map[device.Block]int // the whole block: a Free with another Len is of none
	err  error
	line []byte
}

var _ Allocator = (*Record)(nil)

// NewRecord returns a Record that writes to w. Close flushes it.
func NewRecord(upstream Allocator, w io.Writer) *Record {
	r := &Record{forward: newForward(upstream), w: bufio.NewWriterSize(w, 64<<10), ids: map[device.Block]int{}}
	_, r.err = r.w.WriteString("op,id,size\n")
	return r
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
	r.ids[b] = r.next
	r.write('a', r.next, size)
	r.next++
	return b, nil
}

// Free gives a block to the upstream. It is recorded once, even if that panics.
func (r *Record) Free(b device.Block) {
	r.mu.Lock()
	id, known := r.ids[b]
	if known { // before it goes, as its place may be handed out at once
		delete(r.ids, b)
		r.write('f', id, b.Len)
	}
	r.mu.Unlock()
	r.upstream.Free(b)
}

func (r *Record) write(op byte, id, size int) {
	if r.err != nil {
		return
	}
	l := append(r.line[:0], op, ',')
	l = strconv.AppendInt(l, int64(id), 10)
	l = append(l, ',')
	l = strconv.AppendInt(l, int64(size), 10)
	r.line = append(l, '\n')
	_, r.err = r.w.Write(r.line)
}

// Close writes out what is buffered and returns the first error of w. It does
// not close w. Blocks that are out stay valid and are still recorded.
func (r *Record) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.w.Flush(); r.err == nil {
		r.err = err
	}
	return r.err
}
