package unified

import (
	"runtime"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// A store is the memory of a side, from the first access that hands it out.
type store struct {
	buf   slab.PooledBuffer
	has   bool
	watch runtime.Cleanup // of device memory
}

// provide sees to it that a side has memory.
func (a *array) provide(d side, s device.Stream) error {
	m := &a.sides[d]
	if m.has {
		return nil
	}
	p, err := a.mem.pool(d, a.pinned)
	if err != nil {
		return err
	}
	if m.buf, err = get(p, a.n*a.elem, d, s); err != nil {
		return err
	}
	m.has = true
	if d == onDevice {
		// A pool notices small forgotten blocks only on the Go heap. This
		// finds a forgotten array's, whatever its size; nobody sees bytes there.
		m.watch = runtime.AddCleanup(a, func(b slab.PooledBuffer) { _ = b.Release() }, m.buf)
	}
	return nil
}

// get takes memory that s may use at once, if it is on the device and s is there.
func get(p *slab.Pool, size int, d side, s device.Stream) (slab.PooledBuffer, error) {
	return p.Get(size)
}

// release gives the memory back. The pool keeps it until work that uses it is done.
func (m *store) release(d side) {
	if !m.has {
		return
	}
	if d == onDevice {
		m.watch.Stop()
	}
	_ = m.buf.Release() // exactly once, as has says
	*m = store{}
}

// usedOn keeps the memory of both sides from being handed out again before
// the work on s is done.
func (a *array) usedOn(s device.Stream) error { return nil }
