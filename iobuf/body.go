package iobuf

import (
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// ErrClosed says that a Body was closed, or that its memory has gone back. It wraps fs.ErrClosed.
var ErrClosed = fmt.Errorf("iobuf: the Body is closed: %w", fs.ErrClosed)

// A Body is a reader of pooled memory that owns the memory: the body of a request or of a response.
// The memory goes back once, when the last reader has closed and no call of Read or WriteTo runs any
// more. So a transport may read on after it has answered, close from any goroutine, and close several
// times.
//
// [Buffer.Body] and [NewBody] make a Body, [Body.Another] makes further readers of the same memory.
// Package httpbody gives a Body to an http.Request. Close every Body that you make. A redirect and a
// retry ask for another reader after the transport has closed the first one, so keep a Body of your own
// open until the client has returned.
//
// All methods are safe for concurrent use, also Close during Read. Two Reads at the same time get
// different bytes, and none that a WriteTo is writing. Do not copy a Body. The zero Body is closed.
//
// If a Body and all its readers are forgotten, its blocks come back as those of buffers do, see
// [slab.Pool]: on the Go heap always. Off the heap, blocks above 4 KiB come back if their bytes were
// handed out only within Read: in a Body of NewBody whose buffer was used by With alone, without
// WriteTo. Other blocks above 4 KiB go into quarantine.
//
// A Body is not for contents that change: readers do not lock them.
type Body struct {
	memory *shared
	at     atomic.Int64 // bytes that were read, or that a WriteTo is writing
	closed atomic.Bool
}

var (
	_ io.ReadCloser = (*Body)(nil)
	_ io.WriterTo   = (*Body)(nil)
)

// Body hands the contents over as a Body, segment by segment and without a copy. It takes no memory
// of the pool. Afterwards the Buffer is empty and can be used again. The error is nil today; after an
// error the Buffer still has its contents.
func (b *Buffer) Body() (*Body, error) {
	last, at, m := segment{b.block, b.data}, b.read, &shared{}
	for _, s := range b.full {
		m.add(s.block, s.data[at:])
		at = 0
	}
	clear(b.full) // or its room would keep the memory alive
	b.end()
	if len(last.data) > at {
		m.add(last.block, last.data[at:])
	} else {
		_ = last.block.Release() // nothing is in it, or there is none
	}
	return m.open(), nil
}

// NewBody takes h over: its Bytes are the contents, and the Body releases it. Do not write to the
// memory any more. If a copy of h is released all the same, Read, WriteTo and Another return slab.ErrReleased, and
// no bytes of the next owner. The error is slab.ErrReleased if h is stale, or wraps device.ErrUnavailable if
// the CPU does not reach its memory; then nothing changes.
func NewBody(h slab.PooledBuffer) (*Body, error) {
	var reached bool
	if err := h.With(func(m []byte) { reached = len(m) == h.Len() }); err != nil {
		return nil, err
	}
	if !reached {
		return nil, fmt.Errorf("iobuf: NewBody of memory that the CPU does not reach: %w", device.ErrUnavailable)
	}
	m := &shared{}
	m.addBlock(h)
	return m.open(), nil
}

// Len returns the number of bytes that this reader has not read yet; 0 after Close.
func (b *Body) Len() int {
	if b.memory == nil || b.closed.Load() {
		return 0
	}
	return b.memory.size - int(b.at.Load())
}

// Read moves the next bytes to p and returns their number. If none are left the error is io.EOF,
// unless p is empty. After Close the error is ErrClosed. A Read that runs while another goroutine
// closes b may go on to its end.
func (b *Body) Read(p []byte) (n int, err error) {
	m, err := b.enter()
	if err != nil {
		return 0, err
	}
	defer m.leave()
	from, to := b.claim(len(p))
	if from == to && len(p) > 0 {
		return 0, io.EOF
	}
	defer func() { b.at.Add(int64(n - (to - from))) }()
	return m.copyTo(p[:to-from], from)
}

// Close ends this reader. It does not wait for a Read or a WriteTo: the memory goes back when these
// have returned and the other readers have closed. Further calls do nothing. The error is nil.
func (b *Body) Close() error {
	if b.memory != nil && !b.closed.Swap(true) {
		b.memory.leave()
	}
	return nil
}

// Another returns a second reader of the same memory, from its start, for http.Request.GetBody. It is
// a *Body, to be closed on its own. b may be closed, as long as another reader is open. When the
// memory has gone back the error is ErrClosed. It is slab.ErrReleased if a copy of the handle of NewBody was
// released.
func (b *Body) Another() (io.ReadCloser, error) {
	if b.memory == nil || !b.memory.enter() {
		return nil, ErrClosed
	}
	if err := b.memory.stale(); err != nil {
		b.memory.leave()
		return nil, err
	}
	return &Body{memory: b.memory}, nil
}

// enter keeps the memory until the caller has called its leave. It refuses if b is closed.
func (b *Body) enter() (*shared, error) {
	if b.memory == nil || !b.memory.enter() {
		return nil, ErrClosed
	}
	if b.closed.Load() {
		b.memory.leave()
		return nil, ErrClosed
	}
	return b.memory, nil
}

// claim counts up to n next bytes as read, and returns their place.
func (b *Body) claim(n int) (from, to int) {
	for {
		at := b.at.Load()
		from = int(at)
		to = from + min(n, b.memory.size-from)
		if b.at.CompareAndSwap(at, int64(to)) {
			return from, to
		}
	}
}
