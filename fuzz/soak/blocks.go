package soak

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

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
	if w.fickle == nil && w.r.IntN(2) == 0 {
		w.mark(b.Bytes())
	} else {
		w.write(b)
	}
	return block{b, w.id}, nil
}

func (h block) marked(w *worker) (ok bool) {
	w.read(h.b, func(m []byte) { ok = areMarks(m, h.id) })
	return ok
}

// end has a stream work on one buffer of eight when it goes. It releases twice now and then: the second
// time has to be refused.
func (h block) end(w *worker) error {
	if w.r.IntN(8) == 0 {
		w.work(h.b)
	}
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

// getAll waits as getContext does, and keeps one of three.
func (w *worker) getAll(n int) (held, error) {
	ctx, cancel := patience()
	defer cancel()
	list, err := w.pool.GetAll(ctx, n/2, n, 10)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			err = device.ErrOutOfMemory
		}
		return nil, err
	}
	return w.blockOf(list[1], errors.Join(list[0].Release(), list[2].Release()))
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

func (w *worker) getBytes(n int) (held, error) { return w.bytesOf(w.pool.GetBytes(n)) }

func (w *worker) getBytesContext(n int) (held, error) {
	ctx, cancel := patience()
	defer cancel()
	h, err := w.bytesOf(w.pool.GetBytesContext(ctx, n))
	if errors.Is(err, context.Canceled) {
		err = device.ErrOutOfMemory
	}
	return h, err
}

func (w *worker) bytesOf(m []byte, err error) (held, error) {
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
	size := b.b.Len()
	grown, err := w.grown(b.b, n)
	if w.noRoom(err) {
		return h, nil
	}
	if err != nil {
		return nil, errors.Join(err, b.b.Release())
	}
	w.read(grown, func(m []byte) {
		if len(m) != n && m != nil || len(m) == n && !areMarks(m[:size], w.id) {
			w.violation("Grow: the contents are others")
		}
	})
	return w.blockOf(grown, nil)
}

// grown is Grow. It has no room if the device panics.
func (w *worker) grown(b slab.PooledBuffer, n int) (slab.PooledBuffer, error) {
	c := block{}
	err := error(device.ErrOutOfMemory)
	w.guarded(func() { c.b, err = b.Grow(n) })
	return c.b, err
}

// getOn gets what work of the stream may still use, and waits for that.
func (w *worker) getOn(n int) (held, error) {
	if w.stream == nil {
		return w.get(n)
	}
	b, err := w.pool.GetOn(n, w.stream)
	if err == nil {
		w.must("Sync", w.stream.Sync())
	}
	return w.blockOf(b, err)
}

// words are typed memory.
type words struct {
	s  slab.Slice[uint64]
	id uint64
}

func (h words) marked(w *worker) bool {
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
