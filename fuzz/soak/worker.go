package soak

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"runtime/debug"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// A worker is one of the goroutines.
type worker struct {
	*soak
	memory
	name    string
	p       *slab.Pool
	r       *rand.Rand
	stream  device.Stream // nil where there are no bytes
	scratch []byte        // what it copies to the device and back
	live    []owned
	id      uint64
}

// An owned buffer has the contents that mark writes for an id.
type owned struct {
	b  slab.PooledBuffer
	id uint64
}

const below = 1 << 18 // the bytes of each buffer

func (w *worker) run(steps int) {
	w.id = w.r.Uint64()
	w.scratch = make([]byte, below)
	w.openStream()
	for i := range steps {
		w.guarded(func() { w.step(i, steps) })
	}
	for _, o := range w.live {
		w.guarded(func() { w.release(o) })
	}
	w.live = nil
	w.closeStream()
}

// guarded lets a panic of the device pass.
func (w *worker) guarded(f func()) {
	defer func() {
		if r := recover(); r != nil && r != isFickle {
			panic(r)
		}
	}()
	f()
}

func (w *worker) step(i, steps int) {
	switch k := w.r.IntN(10_000); {
	case k < 5000 && len(w.live) < 64:
		w.get()
	case k < 9950:
		w.releaseOne()
	case k < 9960:
		w.processors.Add(1)
		runtime.GOMAXPROCS(1 + w.r.IntN(16))
	case k < 9970:
		w.paces.Add(1)
		debug.SetGCPercent([]int{10, 50, 100, 400, -1}[w.r.IntN(5)])
	case k < 9980:
		w.freed.Add(1)
		w.p.FreeHeld()
	case k < 9990:
		w.trimmed.Add(1)
		w.p.Trim(w.r.IntN(3))
	case i < steps*9/10: // what follows is for the end
		w.p.Stats()
	case k < 9995:
		w.stopped.Add(1)
		w.p.StopHolding()
	default:
		w.closed.Add(1)
		w.p.Close()
	}
}

// get has a buffer filled, and one of fifty forgotten.
func (w *worker) get() {
	b, err := w.take(w.r.IntN(below >> w.r.IntN(19)))
	switch {
	case errors.Is(err, device.ErrOutOfMemory), errors.Is(err, slab.ErrClosed):
		w.refused.Add(1)
		return
	case err != nil:
		w.violation(w.name, "Get: %v", err)
		return
	}
	w.gets.Add(1)
	w.id++
	w.write(b, w.id)
	if w.r.IntN(50) == 0 && w.finds(b.Len()) {
		w.forget(b)
		return
	}
	w.live = append(w.live, owned{b, w.id})
	if w.r.IntN(8) == 0 {
		w.grow()
	}
}

// take gets some buffers on the stream, whose work may still use them: it waits for that.
func (w *worker) take(size int) (slab.PooledBuffer, error) {
	if w.stream == nil || w.r.IntN(8) != 0 {
		return w.p.Get(size)
	}
	b, err := w.p.GetOn(size, w.stream)
	if err == nil {
		w.must("Sync", w.stream.Sync())
	}
	return b, err
}

// grow doubles the last buffer, or keeps it where there is no room, and cuts it back: then
// it has its contents still.
func (w *worker) grow() {
	o := &w.live[len(w.live)-1]
	n := o.b.Len()
	for _, to := range []int{min(2*n, below), n} {
		b, err := o.b.Grow(to)
		switch {
		case err == nil:
			o.b = b
		case to > n && (errors.Is(err, device.ErrOutOfMemory) || errors.Is(err, device.ErrUnavailable)):
			w.refused.Add(1)
		case errors.Is(err, slab.ErrClosed):
			w.must("Release", o.b.Release())
			w.live = w.live[:len(w.live)-1]
			return
		default:
			w.violation(w.name, "Grow: %v", err)
		}
	}
	w.verify(*o)
}

// forget lets go of b, of which a slice may have escaped, or which a stream may work on.
func (w *worker) forget(b slab.PooledBuffer) {
	w.forgotten.Add(1)
	switch {
	case !w.host && w.r.IntN(4) == 0:
		w.work(b)
	case w.escape && w.host && !w.collected && w.r.IntN(10) == 0:
		b.Bytes()
		w.quarantined.Add(int64(b.Len()))
	}
}

func (w *worker) releaseOne() {
	if n := len(w.live); n > 0 {
		i := w.r.IntN(n)
		o := w.live[i]
		w.live[i], w.live[n-1] = w.live[n-1], owned{}
		w.live = w.live[:n-1]
		w.release(o)
	}
}

// release verifies the contents, and has a stream work on one buffer of eight when it goes.
func (w *worker) release(o owned) {
	w.verify(o)
	if w.r.IntN(8) == 0 {
		w.work(o.b)
	}
	w.must("Release", o.b.Release())
	if err := o.b.Release(); err != slab.ErrReleased {
		w.violation(w.name, "second Release: %v", err)
	}
}

func (w *worker) must(what string, err error) {
	if err != nil {
		w.violation(w.name, "%s: %v", what, err)
	}
}
