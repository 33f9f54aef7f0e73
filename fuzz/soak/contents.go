package soak

import (
	"runtime"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/marks"
	"github.com/bufslab/bufslab/slab"
)

// memory is what a device has.
type memory struct {
	dev         device.Device
	contents    bool // Copy moves bytes
	host        bool // the CPU reaches them
	collected   bool // the Go heap's
	quarantines bool // bytes can be taken out of use
}

func (s *soak) probe(d device.Device) memory {
	b, err := d.Alloc(64 << 10)
	if err != nil {
		s.t.Fatal(err)
	}
	defer d.Free(b)
	m := memory{dev: d, host: device.Bytes(b) != nil}
	m.contents = d.Copy(b, device.Host(make([]byte, b.Len))) == nil
	_, m.collected = b.Region.(device.Collected)
	_, m.quarantines = b.Region.(device.Quarantiner)
	return m
}

// finds says whether a forgotten buffer comes back. Of memory off the Go heap that is one
// above a page; of a device's memory that the CPU cannot reach it is every one.
func (m *memory) finds(size int) bool {
	return m.collected || m.contents && !m.host || size > 8<<10
}

func (w *worker) openStream() {
	if w.contents {
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

// write fills b with what only its owner knows, where the CPU cannot by a copy.
func (w *worker) write(b slab.PooledBuffer, id uint64) {
	w.must("With", b.With(func(m []byte) {
		if m != nil {
			marks.Write(m, id)
		} else if w.contents && b.Len() > 0 {
			m = w.scratch[:b.Len()]
			marks.Write(m, id)
			w.copy(b, b.Block(), device.Host(m))
		}
	}))
}

func (w *worker) verify(o owned) {
	w.must("With", o.b.With(func(m []byte) {
		if m == nil && w.contents && o.b.Len() > 0 {
			m = w.scratch[:o.b.Len()]
			clear(m)
			w.copy(o.b, device.Host(m), o.b.Block())
		}
		if !marks.Are(m, o.id) {
			w.violation(w.name, "%d bytes: somebody else has written to them", len(m))
		}
	}))
}

// copy waits for a copy from b or to b, which the stream makes, or the device.
func (w *worker) copy(b slab.PooledBuffer, dst, src device.Block) {
	if w.r.IntN(2) == 0 {
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
