package soak

import (
	"runtime"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

func probe(d device.Device) (m memory, err error) {
	b, err := d.Alloc(64 << 10)
	if err != nil {
		return m, err
	}
	defer d.Free(b)
	m = memoryOf(b)
	m.dev = d
	m.contents = d.Copy(b, device.Host(make([]byte, b.Len))) == nil
	return m, nil
}

func memoryOf(b device.Block) (m memory) {
	m.host = device.Bytes(b) != nil
	_, m.collected = b.Region.(device.Collected)
	_, m.quarantines = b.Region.(device.Quarantiner)
	return m
}

func (w *worker) openStream() {
	if w.contents && w.fickle != nil {
		s, err := w.dev.NewStream()
		w.must("NewStream", err)
		w.stream = s
	}
}

// closeStream closes what has failed at nothing.
func (w *worker) closeStream() {
	if w.stream != nil {
		w.must("Sync", w.stream.Sync())
		w.must("Close of a stream", w.stream.Close())
	}
}

// write marks b, where the CPU cannot by a copy.
func (w *worker) write(b slab.PooledBuffer) {
	w.must("With", b.With(func(m []byte) {
		if m != nil {
			w.mark(m)
		} else if w.contents && b.Len() > 0 {
			w.copy(b, b.Block(), device.Host(w.mark(w.scratch[:b.Len()]).m))
		}
	}))
}

// read calls f with the contents of b: nil where they cannot be had.
func (w *worker) read(b slab.PooledBuffer, f func(m []byte)) {
	w.must("With", b.With(func(m []byte) {
		if m == nil && w.contents && b.Len() > 0 {
			m = w.scratch[:b.Len()]
			clear(m)
			w.copy(b, device.Host(m), b.Block())
		}
		f(m)
	}))
}

// copy waits for a copy from b or to b, which the stream makes, or the device.
func (w *worker) copy(b slab.PooledBuffer, dst, src device.Block) {
	if w.stream == nil || w.r.IntN(2) == 0 {
		w.must("Copy", w.dev.Copy(dst, src))
		return
	}
	w.must("UsedOn", b.UsedOn(w.stream))
	w.must("Copy of a stream", w.stream.Copy(dst, src))
	w.must("Sync", w.stream.Sync())
}

// work has the stream overwrite b, and does not wait.
func (w *worker) work(b slab.PooledBuffer) {
	if w.stream != nil && b.Len() > 0 {
		w.works.Add(1)
		w.must("UsedOn", b.UsedOn(w.stream))
		w.must("Fill", w.stream.Fill(b.Block(), 0xFF))
		runtime.KeepAlive(b) // the worker that forgets it keeps it until all work is enqueued
	}
}
