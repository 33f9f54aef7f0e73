package unified

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// A getter gets memory from a slab.Pool.
type getter func(p *slab.Pool, size int) (slab.PooledBuffer, error)

// provide sees to it that a side has memory. One that has none gets it by get.
func (a *array) provide(d side, get getter) error {
	d = a.place(d)
	m := &a.sides[d]
	if m.has {
		return nil
	}
	p, err := a.mem.pool(d, a.pinned)
	if err != nil {
		return err
	}
	if m.buf, err = get(p, a.n*a.elem); err != nil {
		return err
	}
	if err = a.reaches(m, d); err != nil {
		return err
	}
	a.own(m, d)
	return nil
}

// provideOn is provide for an access on s, which may be nil. Memory of the device may still be in use
// by s, as s is the next to use it.
func (a *array) provideOn(d side, s device.Stream) error {
	if s == nil || a.place(d) == host {
		return a.provide(d, (*slab.Pool).Get)
	}
	had := a.sides[onDevice].has
	err := a.provide(d, func(p *slab.Pool, size int) (slab.PooledBuffer, error) { return p.GetOn(size, s) })
	if err != nil || had {
		return err
	}
	// Earlier writes of s to the memory are no result of this array.
	before := use{stream: s, hi: a.n, reads: [2]bool{onDevice: true}}
	_ = before.close() // a stream that cannot record fails at its next call, too
	a.uses = append(a.uses, before)
	return nil
}

// own says that a side has memory from now on.
func (a *array) own(m *store, d side) {
	m.has = true
	m.buf.Hide() // from a Put of what the program sees of it
	if d == onDevice {
		// A pool does not notice a small forgotten block off the Go heap that the CPU
		// can reach. This finds the block of a forgotten array; no slice of it exists.
		m.watch = runtime.AddCleanup(a, func(b slab.PooledBuffer) { go b.Release() }, m.buf) // it may wait for a stream
	}
}

// reaches gives memory back that has to serve the host, too, if the CPU cannot reach it.
func (a *array) reaches(m *store, d side) error {
	if d != a.place(host) {
		return nil
	}
	var has bool
	_ = m.buf.With(func(b []byte) { has = b != nil })
	if has || m.buf.Len() == 0 {
		return nil
	}
	err := m.buf.Release()
	return errors.Join(fmt.Errorf("unified: the CPU does not reach the memory of the slab.Pool for the %v side: %w", d,
		device.ErrUnavailable), err)
}

// handedOut notes that the program has a slice of the host side. If that is the device's
// memory, the slice does not keep the array from being found forgotten, and the next owner
// of the memory would share it. So the memory then stays active.
func (a *array) handedOut() {
	if a.mem.shared {
		a.sides[onDevice].watch.Stop()
	}
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
