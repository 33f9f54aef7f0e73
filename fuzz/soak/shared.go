package soak

import (
	"errors"
	"slices"

	"github.com/bufslab/bufslab/slab"
)

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

func (h parts) marked(w *worker) bool {
	return !slices.ContainsFunc(h, func(b block) bool { return !b.marked(w) })
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
			return nil, errors.Join(err, h.end(w), b.Release())
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
		return nil, errors.Join(err, first.Release())
	}
	b, err := r.Get()
	if err != nil {
		return nil, errors.Join(err, first.Release())
	}
	if err := first.Release(); err != nil {
		return nil, errors.Join(err, b.Release())
	}
	if _, err := r.Get(); !errors.Is(err, slab.ErrReleased) {
		w.violation("Ref: that of a released handle returns %v", err)
	}
	return w.blockOf(b, nil)
}
