package soak

import (
	"context"
	"errors"
	"io"

	"github.com/bufslab/bufslab/arena"
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/iobuf"
	"github.com/bufslab/bufslab/unified"
)

// A message is a Buffer with n marked bytes, which were written in pieces.
type message struct {
	b  *iobuf.Buffer
	n  int
	id uint64
}

func (h message) marked(*worker) bool { return h.b.Len() == h.n && areMarks(h.b.Bytes(), h.id) }
func (h message) end(*worker) error   { h.b.Release(); return nil }

func (w *worker) compose(n int) (message, error) {
	m := w.mark(w.scratch[:n]).m
	h := message{iobuf.New(w.pool), n, w.id}
	for len(m) > 0 {
		k, err := h.b.Write(m[:1+w.r.IntN(len(m))])
		if err != nil {
			h.b.Release()
			return h, err
		}
		m = m[k:]
	}
	return h, nil
}

func (w *worker) buffer(n int) (held, error) {
	h, err := w.compose(n)
	if err != nil {
		return nil, err
	}
	return h, nil
}

// A sent message is a Body, with a second reader of it.
type sent struct {
	b  *iobuf.Body
	id uint64
}

func (h sent) marked(w *worker) bool {
	r, err := h.b.Another()
	if err != nil {
		return false
	}
	m, err := io.ReadAll(r)
	return errors.Join(err, r.Close()) == nil && len(m) == h.b.Len() && areMarks(m, h.id)
}

// end closes it beside a Read.
func (h sent) end(*worker) error {
	read := make(chan struct{})
	go func() {
		defer close(read)
		var m [512]byte
		for {
			if _, err := h.b.Read(m[:]); err != nil {
				return
			}
		}
	}()
	err := h.b.Close()
	<-read
	return err
}

func (w *worker) body(n int) (held, error) {
	m, err := w.compose(n)
	if err != nil {
		return nil, err
	}
	b, err := m.b.Body()
	if err != nil {
		m.b.Release()
		return nil, err
	}
	return sent{b, m.id}, nil
}

// pieces are of an Arena.
type pieces struct {
	a     *arena.Arena
	parts []slice
}

func (h pieces) marked(w *worker) bool {
	for _, p := range h.parts {
		if !p.marked(w) {
			return false
		}
	}
	return true
}

func (h pieces) end(*worker) error { h.a.Release(); return nil }

func (w *worker) arena(n int) (held, error) {
	h := pieces{a: arena.New(w.pool)}
	for range 4 {
		m, err := h.a.Get(n / 4)
		if err != nil {
			h.a.Release()
			return nil, err
		}
		w.id++
		h.parts = append(h.parts, w.mark(m))
	}
	return h, nil
}

// leased is the buffer of a key, or one beside it where another worker has that.
type leased struct {
	l  *growpool.Lease[byte]
	id uint64
}

func (h leased) marked(w *worker) bool { return areMarks(h.l.Slice(), h.id) }
func (h leased) end(*worker) error     { return h.l.Release() }

const keys = 8

func (w *worker) lease(n int) (held, error) {
	ctx, cancel := patience()
	defer cancel()
	l, err := growpool.Acquire[byte](ctx, w.keyed, w.r.IntN(keys), n)
	if errors.Is(err, context.Canceled) {
		return nil, device.ErrOutOfMemory
	}
	if err != nil {
		return nil, err
	}
	w.mark(l.Slice())
	return leased{l, w.id}, nil
}

// view asks for a key of the worker's own, and for more of it: then the first View is as it was. What
// the key outgrows is left to the collector, which finds it as it finds what is forgotten.
func (w *worker) view(n int) (held, error) {
	key := keys + int(w.id>>48)
	n = w.foundAt(2 * n)
	first, err := growpool.Get[byte](w.keyed, key, n/2)
	if err != nil {
		return nil, err
	}
	w.outgrown.Add(2)
	m := w.mark(first.Slice())
	if _, err := growpool.Get[byte](w.keyed, key, n); err != nil {
		return nil, err
	}
	if first.Valid() && !m.marked(w) {
		w.violation("View: somebody else has written to it")
	}
	return nil, nil
}

// An array is on the device or on the host, or on both.
type array struct {
	b  *unified.Buffer[byte]
	id uint64
}

func (h array) marked(w *worker) bool {
	m, err := h.b.Host()
	return err == nil && areMarks(m, h.id)
}

func (h array) end(*worker) error { return h.b.Release() }

func (w *worker) array(n int) (held, error) {
	b, err := unified.Acquire[byte](w.arrays, n)
	if err != nil {
		return nil, err
	}
	m, err := b.HostOverwrite()
	if err == nil {
		w.mark(m)
		switch w.r.IntN(3) {
		case 0:
			err = b.SyncToDevice()
		case 1:
			_, err = b.DeviceMut()
		}
	}
	if err != nil {
		return nil, errors.Join(err, b.Release())
	}
	return array{b, w.id}, nil
}

// lent is memory by an adapter.
type lent struct {
	slice
	back func()
}

func (h lent) end(*worker) error { h.back(); return nil }

// arrowBytes panics with the pool's error where there is no room, as Arrow's allocators do.
func (w *worker) arrowBytes(n int) (h held, err error) {
	var m []byte
	defer func() {
		if e, ok := recover().(error); ok {
			w.arrow.Free(m)
			h, err = nil, e
		}
	}()
	m = w.arrow.Allocate(n / 2)
	old := w.mark(m)
	m = w.arrow.Reallocate(n, m)
	if !areMarks(m[:n/2], old.id) {
		w.violation("Reallocate: the contents are others")
	}
	return lent{w.mark(m), func() { w.arrow.Free(m) }}, nil
}

func (w *worker) grpcBytes(n int) (held, error) {
	m := w.grpc.Get(n)
	return lent{w.mark(*m), func() { w.grpc.Put(m) }}, nil
}

func (w *worker) httpBytes(int) (held, error) {
	m := w.http.Get()
	return lent{w.mark(m), func() { w.http.Put(m) }}, nil
}
