package unified

import (
	"slices"

	"github.com/bufslab/bufslab/device"
)

// streams returns those that work on the array, as far as it knows.
func (a *array) streams() (list []device.Stream) {
	for _, u := range a.uses {
		list = append(list, u.stream)
	}
	return list
}

// hold makes a stream wait for the work.
func (u *use) hold(s device.Stream) error {
	if u.close() != nil {
		return u.sync()
	}
	return s.Wait(u.event)
}

// awaitAccess waits for all work in the way of an access and its steps. It
// reports whether work was found to have failed, so that the access has to be
// planned again.
func (a *array) awaitAccess(lo, hi int, c access, steps []step, s device.Stream) (again bool, err error) {
	for _, x := range steps {
		again, err = a.awaitTarget(x, c.side(), s)
		if !again && err == nil && x.do == pull {
			again, err = a.await(x.lo, x.hi, c.side().other(), false, true, s)
		}
		if again || err != nil {
			return again, err
		}
	}
	return a.await(lo, hi, c.side(), c.writes(), !c.overwrites(), s)
}

// awaitTarget is await for a step that writes to a side. A step may cover gaps between the ranges
// to copy. Gaps are not written anew: if earlier work has failed there, the access fails.
func (a *array) awaitTarget(x step, d side, s device.Stream) (again bool, err error) {
	for y := range a.res.spans(x.lo, x.hi) {
		if again, err = a.await(y.lo, y.hi, d, true, y.state == Synchronized, s); again || err != nil {
			break
		}
	}
	return again, err
}

// await waits until elements of a side may be read, and written too if
// writes says so. Whether the work before has failed matters if results does.
// A stream is made to wait, without one the caller waits.
func (a *array) await(lo, hi int, d side, writes, results bool, s device.Stream) (again bool, err error) {
	d = a.place(d)
	if s != nil {
		err = a.hold(lo, hi, d, writes, s)
	}
	for i := 0; i < len(a.uses) && !again && err == nil; {
		u := &a.uses[i]
		needed := results && u.writes[d]
		switch {
		case !u.touches(lo, hi, d, writes) || u.stream == s || s != nil && !u.over():
			i++
		default:
			again, err = a.settle(i, lo, hi, needed)
		}
	}
	return again, err
}

// hold makes a stream wait for the uses that go on. It comes before any use is settled: if the
// stream cannot wait, nothing is written anew, and no failure may be forgotten.
func (a *array) hold(lo, hi int, d side, writes bool, s device.Stream) (err error) {
	for i := 0; i < len(a.uses) && err == nil; i++ {
		if u := &a.uses[i]; u.touches(lo, hi, d, writes) && u.stream != s && !u.over() {
			err = u.hold(s) // which passes a failure on
		}
	}
	return err
}

// settle waits for the i-th use and removes it, unless its failure is needed.
// If the use was ours and has failed, it counts as not done, and again is true.
func (a *array) settle(i, lo, hi int, needed bool) (again bool, err error) {
	u := &a.uses[i]
	switch err = u.sync(); {
	case err == nil:
		a.uses = slices.Delete(a.uses, i, i+1)
	case u.ours:
		again, err = true, nil
		a.undo(i)
	case !needed:
		// The failure no longer matters for elements that are written anew, only for the rest.
		err = nil
		a.uses = slices.Replace(a.uses, i, i+1, u.outside(lo, hi)...)
	}
	return again, err
}

// undo takes back the states of the i-th use, and removes the use. Uses that
// were built on it go first.
func (a *array) undo(i int) {
	u := a.uses[i]
	for j := len(a.uses) - 1; j > i; j-- {
		if later := &a.uses[j]; later.ours && later.meets(u.lo, u.hi) {
			_, _ = a.settle(j, later.lo, later.hi, true) // ours have no error that is needed
		}
	}
	for _, b := range u.before {
		a.res.swap(b.lo, b.hi, u.after, b.state)
	}
	a.uses = slices.Delete(a.uses, i, i+1)
}

// unsettled reports whether a copy of ours that may still fail is about some of the elements.
// They count as Synchronized, and undo has to find them so.
func (a *array) unsettled(lo, hi int) bool {
	return slices.ContainsFunc(a.uses, func(u use) bool { return u.ours && u.meets(lo, hi) })
}

// outside returns the use without some of its elements.
func (u *use) outside(lo, hi int) (parts []use) {
	if u.lo < lo {
		left := *u
		left.hi = lo
		parts = append(parts, left)
	}
	if hi < u.hi {
		right := *u
		right.lo = hi
		parts = append(parts, right)
	}
	return parts
}

// enqueue takes a step on a stream.
func (a *array) enqueue(x step, to side, s device.Stream) error {
	if err := a.usedOn(s); err != nil {
		return err
	}
	u := use{stream: s, lo: x.lo, hi: x.hi, ours: true, before: slices.Collect(a.res.spans(x.lo, x.hi))}
	u.writes[to] = true
	var err error
	if x.do == pull {
		u.reads[to.other()] = true
		u.after = Synchronized
		err = s.Copy(a.block(to, x.lo, x.hi), a.block(to.other(), x.lo, x.hi))
	} else {
		u.after = DeviceOnly // the CPU clears the host side
		err = s.Fill(a.block(to, x.lo, x.hi), 0)
	}
	if err != nil {
		return err
	}
	if err := u.close(); err != nil {
		_ = s.Sync() // nothing of it may be going on when the caller hears of this
		return err
	}
	a.uses = append(a.uses, u)
	return nil
}

// handOn notes that the caller will use the device side on a stream.
func (a *array) handOn(lo, hi int, c access, s device.Stream) error {
	if lo == hi {
		return nil
	}
	u := use{stream: s, lo: lo, hi: hi}
	u.reads[onDevice], u.writes[onDevice] = true, c.writes()
	a.uses = slices.DeleteFunc(a.uses, func(old use) bool { return u.covers(&old) })
	a.uses = append(a.uses, u)
	return a.usedOn(s)
}

// covers reports whether a wait for u is also a wait for an earlier use of the
// caller's. Ranges are not joined: other goroutines may have views next to this
// range, and still enqueue work.
func (u *use) covers(old *use) bool {
	return !old.ours && old.stream == u.stream && old.err == nil && u.lo <= old.lo && old.hi <= u.hi &&
		(u.writes[onDevice] || !old.writes[onDevice])
}

// manyUses is the number of uses of a buffer before it looks which are done.
const manyUses = 16

// prune forgets uses that are done, so that the list is short even if no access
// waits.
func (a *array) prune() {
	if len(a.uses) < manyUses {
		return
	}
	for i := len(a.uses) - 1; i >= 0; i-- {
		if u := &a.uses[i]; u.event != nil && u.event.Done() {
			_, _ = a.settle(i, u.lo, u.hi, true) // a failure that matters is kept
		}
	}
}
