package unified

import (
	"errors"
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

// provide sees to it that a side has memory. That of the device may have been
// used by s until now, where s is the one to use it next.
func (a *array) provide(d side, s device.Stream) error {
	m := &a.sides[d]
	if m.has {
		return nil
	}
	err := a.get(m, d, s)
	if errors.Is(err, device.ErrOutOfMemory) && a.pool != nil {
		a.pool.Clear()
		err = a.get(m, d, s)
	}
	if err != nil {
		return err
	}
	m.has = true
	if d == onDevice {
		// A pool notices small forgotten blocks only on the Go heap. This
		// finds a forgotten array's, whatever its size; no slice of it exists.
		m.watch = runtime.AddCleanup(a, func(b slab.PooledBuffer) { _ = b.Release() }, m.buf)
	}
	return nil
}

// get takes memory from the pool for a side.
func (a *array) get(m *store, d side, s device.Stream) error {
	p, err := a.mem.pool(d, a.pinned)
	if err != nil {
		return err
	}
	if d == host || s == nil {
		m.buf, err = p.Get(a.n * a.elem)
		return err
	}
	if m.buf, err = p.GetOn(a.n*a.elem, s); err != nil {
		return err
	}
	// What s has written to the memory until now is no result of this array.
	before := use{stream: s, hi: a.n, reads: [2]bool{onDevice: true}}
	_ = before.close() // a stream that cannot record fails at its next call, too
	a.uses = append(a.uses, before)
	return nil
}

// release gives the memory back. The pool keeps it until work that uses it is
// done.
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
func (a *array) usedOn(s device.Stream) error {
	for d := range a.sides {
		if m := &a.sides[d]; m.has {
			if err := m.buf.UsedOn(s); err != nil {
				return err
			}
		}
	}
	return nil
}
