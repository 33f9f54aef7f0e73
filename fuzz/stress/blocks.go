package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/marks"
	"github.com/bufslab/bufslab/slab"
)

// ways are all ways to have memory of a pool: those of package slab, then those of the packages
// over it. take returns what the worker has now: nil if it has that no more.
var ways = []struct {
	name string
	take func(w *worker, n int) (held, error)
}{
	{"Get", (*worker).get},
	{"GetZeroed", (*worker).getZeroed},
	{"GetContext", (*worker).getContext},
	{"GetBytes", (*worker).getBytes},
	{"Lookup", (*worker).lookup},
	{"Grow", (*worker).grow},
	{"Share", (*worker).share},
	{"Slice", (*worker).slice},
	{"Ref", (*worker).ref},
	{"Make", (*worker).typed},
	{"forgotten", (*worker).forget},
	{"Buffer", (*worker).buffer},
	{"Body", (*worker).body},
	{"Arena", (*worker).arena},
	{"Lease", (*worker).lease},
	{"View", (*worker).view},
	{"unified", (*worker).array},
	{"Arrow", (*worker).arrowBytes},
	{"gRPC", (*worker).grpcBytes},
	{"HTTP", (*worker).httpBytes},
}

// A block is a buffer by its handle.
type block struct {
	b  slab.PooledBuffer
	id uint64
}

// blockOf marks b.
func (w *worker) blockOf(b slab.PooledBuffer, err error) (held, error) {
	if err != nil {
		return nil, err
	}
	if w.r.IntN(2) == 0 {
		w.mark(b.Bytes())
	} else if err := b.With(func(m []byte) { w.mark(m) }); err != nil {
		return nil, err
	}
	return block{b, w.id}, nil
}

func (h block) marked() (ok bool) {
	err := h.b.With(func(m []byte) { ok = marks.Are(m, h.id) })
	return ok && err == nil
}

// end releases twice now and then: the second time has to be refused.
func (h block) end(w *worker) error {
	if err := h.b.Release(); err != nil || w.r.IntN(16) != 0 {
		return err
	}
	w.doubles.Add(1)
	if err := h.b.Release(); !errors.Is(err, slab.ErrReleased) {
		return fmt.Errorf("the second Release returns %v", err)
	}
	return nil
}

func (w *worker) get(n int) (held, error) { return w.blockOf(w.pool.Get(n)) }

func (w *worker) getZeroed(n int) (held, error) {
	b, err := w.pool.GetZeroed(n)
	if err == nil && slices.ContainsFunc(b.Bytes(), func(c byte) bool { return c != 0 }) {
		w.violation("GetZeroed: a byte is not 0")
	}
	return w.blockOf(b, err)
}

// getContext waits where there is no room, for a while.
func (w *worker) getContext(n int) (held, error) {
	ctx, cancel := patience()
	defer cancel()
	h, err := w.blockOf(w.pool.GetContext(ctx, n))
	if errors.Is(err, context.Canceled) {
		err = device.ErrOutOfMemory
	}
	return h, err
}

// patience returns a context that is cancelled after others had many turns: a worker has memory that
// others wait for, so it must not wait for ever.
func patience() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for i := 0; i < 1000 && ctx.Err() == nil; i++ {
			runtime.Gosched()
		}
		cancel()
	}()
	return ctx, cancel
}

// bytes is a buffer by its slice.
type bytes struct{ slice }

func (h bytes) end(w *worker) error { return w.pool.Put(h.m) }

func (w *worker) getBytes(n int) (held, error) {
	m, err := w.pool.GetBytes(n)
	if err != nil {
		return nil, err
	}
	return bytes{w.mark(m)}, nil
}

// lookup has a handle of what was got by its slice.
func (w *worker) lookup(n int) (held, error) {
	m, err := w.pool.GetBytes(n + 1) // no slice of no bytes is found
	if err != nil {
		return nil, err
	}
	b, ok := w.pool.Lookup(m)
	if !ok || b.Len() != len(m) {
		return nil, errors.Join(fmt.Errorf("%d bytes are not found", len(m)), w.pool.Put(m))
	}
	return w.blockOf(b, nil)
}

// grow has a buffer of some bytes become one of n.
func (w *worker) grow(n int) (held, error) {
	h, err := w.get(n / (1 + w.r.IntN(8)))
	if err != nil {
		return nil, err
	}
	b := h.(block)
	grown, err := b.b.Grow(n)
	if noRoom(err) {
		return h, nil
	}
	if err != nil {
		return nil, errors.Join(err, b.b.Release())
	}
	if m := grown.Bytes(); len(m) != n || !marks.Are(m[:min(b.b.Len(), n)], w.id) {
		w.violation("Grow: the contents are others")
	}
	return w.blockOf(grown, nil)
}

// share releases one of two handles to a buffer.
func (w *worker) share(n int) (held, error) {
	h, err := w.get(n)
	if err != nil {
		return nil, err
	}
	one := h.(block)
	other, err := one.b.Share()
	if err != nil {
		return nil, errors.Join(err, one.b.Release())
	}
	if w.r.IntN(2) == 0 {
		one.b, other = other, one.b
	}
	return one, other.Release()
}

// parts are pieces of a buffer whose own handle is released.
type parts []block

func (h parts) marked() bool {
	return !slices.ContainsFunc(h, func(b block) bool { return !b.marked() })
}

func (h parts) end(w *worker) error {
	w.r.Shuffle(len(h), func(i, j int) { h[i], h[j] = h[j], h[i] })
	for _, b := range h {
		if err := b.end(w); err != nil {
			return err
		}
	}
	return nil
}

func (w *worker) slice(n int) (held, error) {
	b, err := w.pool.Get(n)
	if err != nil {
		return nil, err
	}
	var h parts
	for i := range 3 {
		part, err := b.Slice(i*n/3, (i+1)*n/3)
		if err != nil {
			return nil, err
		}
		w.id++
		w.mark(part.Bytes())
		h = append(h, block{part, w.id})
	}
	return h, b.Release()
}

// ref has a handle by the text of a reference, and releases the first one. Then the reference is
// stale, though the memory is still out.
func (w *worker) ref(n int) (held, error) {
	first, err := w.pool.Get(n)
	if err != nil {
		return nil, err
	}
	r, err := slab.ParseRef(first.Ref().String())
	if err != nil {
		return nil, err
	}
	b, err := r.Get()
	if err != nil {
		return nil, err
	}
	if err := first.Release(); err != nil {
		return nil, err
	}
	if _, err := r.Get(); !errors.Is(err, slab.ErrReleased) {
		w.violation("Ref: that of a released handle returns %v", err)
	}
	return w.blockOf(b, nil)
}

// words are typed memory.
type words struct {
	s  slab.Slice[uint64]
	id uint64
}

func (h words) marked() bool {
	for _, x := range h.s.Slice() {
		if x != h.id {
			return false
		}
	}
	return true
}

func (h words) end(*worker) error { return h.s.Release() }

func (w *worker) typed(n int) (held, error) {
	s, err := slab.Make[uint64](w.pool, n/8)
	if err != nil {
		return nil, err
	}
	m := s.Slice()
	for i := range m {
		m[i] = w.id
	}
	return words{s, w.id}, nil
}

// foundAt returns n, or the least size of a buffer off the Go heap that the collector finds.
func (w *worker) foundAt(n int) int {
	if w.collected {
		return max(n, 1)
	}
	return max(n, 16<<10)
}

// forget drops a buffer that the pool has to find. On the Go heap a slice of it stays for a while.
func (w *worker) forget(n int) (held, error) {
	if w.r.IntN(8) != 0 {
		return w.get(n)
	}
	b, err := w.pool.Get(w.foundAt(n))
	if err != nil {
		return nil, err
	}
	w.dropped = b // which forgets the one before
	w.forgotten.Add(1)
	if w.collected {
		w.lookAtViews()
		w.views[w.r.IntN(len(w.views))] = w.mark(b.Bytes())
		return nil, nil
	}
	return nil, b.With(func(m []byte) { w.mark(m) })
}
