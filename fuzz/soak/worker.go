package soak

import (
	"errors"
	"io"
	"math/rand/v2"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/marks"
	"github.com/bufslab/bufslab/slab"
)

// held is memory that a worker has, in one of the ways of a pool.
type held interface {
	// marked reports whether its bytes are those that its owner has written.
	marked(w *worker) bool
	// end gives it back.
	end(w *worker) error
}

// owned is what workers keep and hand to each other.
type owned struct {
	held
	way string
}

// A worker is one of the goroutines.
type worker struct {
	*run
	pool    *slab.Pool
	r       *rand.Rand
	stream  device.Stream // nil where there are no bytes
	live    []owned
	scratch []byte            // of no object with pointers, as C sees it
	views   [16]slice         // of buffers on the Go heap whose handle is forgotten
	dropped slab.PooledBuffer // the last one that is forgotten
	id      uint64            // of the buffer that was taken last; no two are equal
}

const (
	largest  = 1 << 18 // bytes of a buffer
	mostLive = 24      // buffers of a worker
	often    = 256     // steps between two changes of the weather
)

// whole works while there is more to do, and gives back what it has.
func (w *worker) whole(more func(w *worker, i int) bool) {
	w.openStream()
	for i := 1; more(w, i); i++ {
		w.guarded(w.step)
		w.steps.Add(1)
		if i%often == 0 {
			w.changes.Add(1)
			w.weather.change(w)
		}
	}
	for _, o := range w.live {
		w.guarded(func() { w.end(o) })
	}
	w.live = nil
	w.closeStream()
	w.lookAtViews()
	clear(w.views[:])
	w.dropped = slab.PooledBuffer{}
}

// guarded lets a panic of a fickle device pass.
func (w *worker) guarded(f func()) {
	defer func() {
		if r := recover(); r != nil && r != isFickle {
			panic(r)
		}
	}()
	f()
}

// noRoom reports whether err says that there was no memory, which may happen at any time.
func (w *worker) noRoom(err error) bool {
	return errors.Is(err, device.ErrOutOfMemory) || errors.Is(err, io.ErrShortBuffer) ||
		w.fickle != nil && (errors.Is(err, slab.ErrClosed) || errors.Is(err, device.ErrUnavailable))
}

func (w *worker) step() {
	switch k := w.r.IntN(100); {
	case k < 50 && len(w.live) < mostLive:
		w.take()
	case k < 90:
		if o, ok := w.pick(); ok {
			w.end(o)
		}
	case k < 96:
		w.handOver()
	default:
		select {
		case o := <-w.hand:
			w.end(o)
		default:
		}
	}
}

// take gets a buffer of any size in any way.
func (w *worker) take() {
	i := w.r.IntN(len(w.taken))
	w.id++
	h, err := ways[i].take(w, w.r.IntN(largest>>w.r.IntN(18)))
	switch {
	case w.noRoom(err):
		w.refused.Add(1)
	case err != nil:
		w.violation("%s: %v", ways[i].name, err)
	default:
		w.taken[i].Add(1)
		if h != nil {
			w.live = append(w.live, owned{h, ways[i].name})
		}
	}
}

func (w *worker) pick() (o owned, ok bool) {
	n := len(w.live)
	if n == 0 {
		return o, false
	}
	i := w.r.IntN(n)
	o, w.live[i] = w.live[i], w.live[n-1]
	w.live = w.live[:n-1]
	return o, true
}

func (w *worker) handOver() {
	o, ok := w.pick()
	if !ok {
		return
	}
	select {
	case w.hand <- o:
	default:
		w.end(o)
	}
}

// end looks at the contents, and gives the memory back.
func (w *worker) end(o owned) {
	if !o.marked(w) {
		w.violation("%s: somebody else has written to the buffer", o.way)
	}
	if err := o.end(w); err != nil {
		w.violation("end of %s: %v", o.way, err)
	}
}

// mark writes the marks of the current id to m, and returns m with it.
func (w *worker) mark(m []byte) slice {
	marks.Write(m, w.id)
	return slice{m, w.id}
}

// lookAtViews looks at slices whose handles are forgotten: no one else may have their memory.
func (w *worker) lookAtViews() {
	for _, v := range w.views {
		if !v.marked(w) {
			w.violation("forgotten: the memory of a slice that is in use was handed out again")
		}
	}
}

// A slice is bytes with the marks of an id.
type slice struct {
	m  []byte
	id uint64
}

func (s slice) marked(*worker) bool { return marks.Are(s.m, s.id) }
