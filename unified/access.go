package unified

import (
	"errors"
	"fmt"

	"github.com/bufslab/bufslab/device"
)

// access takes the actions of the table for the elements from lo to below hi, in
// the calling goroutine or in order on a stream. Until all actions are done or
// enqueued no state changes.
func (a *array) access(lo, hi int, c access, s device.Stream) error {
	if s != nil {
		if err := a.accepts(s); err != nil {
			return err
		}
	}
	steps, err := a.prepare(lo, hi, c, s)
	if err != nil {
		return err
	}
	if lo < hi && (len(steps) > 0 || c.handsOut()) {
		if err := a.provideOn(c.side(), s); err != nil {
			return err
		}
	}
	for _, x := range steps {
		if err := a.take(x, c.side(), s); err != nil {
			return err
		}
	}
	a.res.grant(lo, hi, c)
	a.res.limit(a.unsettled)
	return nil
}

// accepts refuses a stream that is closed, or that cannot work on the device side. A device side without memory
// gets it by slab.Pool.GetOn, which refuses, too.
func (a *array) accepts(s device.Stream) error {
	var b device.Block
	if m := &a.sides[onDevice]; m.has {
		b = m.buf.Block()
	}
	if err := device.Accepts(s, b); err != nil {
		return fmt.Errorf("unified: a stream for a buffer of %s: %w", a.mem.dev.Name(), err)
	}
	return nil
}

// prepare plans an access and waits for work that is in its way. When work that
// counted as done turns out to have failed, the plan is made anew.
func (a *array) prepare(lo, hi int, c access, s device.Stream) (steps []step, err error) {
	a.prune()
	for again := true; again; {
		if steps, err = a.res.plan(lo, hi, c, a.slack()); err != nil {
			return nil, err
		}
		if again, err = a.awaitAccess(lo, hi, c, steps, s); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// slack returns the number of elements that are cheaper to copy than another call.
func (a *array) slack() int {
	if len(a.res.ranges) < 3 {
		return 0 // there is nothing between two ranges
	}
	return a.mem.callBytes() / max(a.elem, 1)
}

// take takes a step of an access of side to.
func (a *array) take(x step, to side, s device.Stream) error {
	switch {
	case x.do == pull && a.mem.shared:
		a.mem.uncopied.add((x.hi - x.lo) * a.elem)
		return nil
	case s != nil:
		return a.enqueue(x, to, s)
	case x.do == pull:
		return a.mem.dev.Copy(a.block(to, x.lo, x.hi), a.block(to.other(), x.lo, x.hi))
	case to == host || a.mem.shared:
		clear(device.Bytes(a.block(to, x.lo, x.hi)))
		return nil
	}
	return a.zeroDevice(x)
}

// zeroDevice needs a stream, as a device has no Fill of its own.
func (a *array) zeroDevice(x step) error {
	s, err := a.mem.dev.NewStream()
	if err != nil {
		return err
	}
	if err = s.Fill(a.block(onDevice, x.lo, x.hi), 0); err == nil {
		err = s.Sync()
	}
	return errors.Join(err, s.Close())
}
