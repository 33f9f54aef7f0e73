package slab

import "fmt"

// Limits nest: a Limit over a Limit counts against both. A child gets its promised bytes
// whatever the others use: at every moment its parent counts the larger of two numbers, the
// promised bytes and the bytes that the child uses.

// A GuaranteeError says that a child of a [Limit] cannot be promised that number of bytes, as
// the numbers contradict each other. Nothing has happened.
type GuaranteeError struct {
	Guarantee, Max      int64 // asked for the child, in bytes
	ParentMax, Promised int64 // of the parent, and to its other children
}

func (e *GuaranteeError) Error() string {
	return fmt.Sprintf("slab: a guarantee of %d bytes for a limit of %d, within one of %d that has promised %d",
		e.Guarantee, e.Max, e.ParentMax, e.Promised)
}

// Within returns a child of l: a Limit of max bytes over l. Its first guarantee bytes are
// promised: no one else has them, used or not, until [Limit.EndGuarantee]. Beyond them the
// child competes with the others. With a guarantee of 0 it is NewLimit(l, max).
//
// The error is a *GuaranteeError if guarantee is negative, above max, or more than other
// promises leave of l's maximum. It is a *LimitError if the bytes are in use now, though all
// pools that share l, or a Limit or device below l, were asked to give held memory back. A
// GetContext that needs bytes which are promised to others waits until the promise ends.
func (l *Limit) Within(max, guarantee int64) (*Limit, error) {
	err := l.promise(max, guarantee)
	if outOfMemory(err) { // l's, or that of a Limit around it
		for _, b := range budgetsOf(l) {
			b.Reclaim(nil)
		}
		err = l.promise(max, guarantee)
	}
	if err != nil {
		return nil, err
	}
	return (&Limit{upstream: l, up: l.up, grain: l.grain, max: max, parent: l, guarantee: guarantee}).ready(), nil
}

// promise reserves the guarantee of a child.
func (l *Limit) promise(max, guarantee int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if guarantee < 0 || guarantee > max || guarantee > l.max-l.promised {
		return &GuaranteeError{guarantee, max, l.max, l.promised}
	}
	if err := l.reserveLocked(guarantee, true); err != nil {
		return err
	}
	l.promised += guarantee
	return nil
}

// EndGuarantee gives promised bytes that are not in use back to the parent. The Limit then works
// without a guarantee. Later calls do nothing.
func (l *Limit) EndGuarantee() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.parent == nil || l.guarantee == 0 {
		return
	}
	g := l.guarantee
	l.guarantee = 0
	l.parent.endPromise(g, max(l.inUse, g)-l.inUse)
}

// endPromise takes back a promise of guarantee bytes, of which unused bytes are not in use.
func (l *Limit) endPromise(guarantee, unused int64) {
	l.mu.Lock()
	l.promised -= guarantee
	l.mu.Unlock()
	l.refund(unused, true)
}

// charge has the parent count a change of inUse to n: it reserves the growth there, or refunds the rest.
// wakes is passed as first to reserve, as drawn to refund. A child draws past its parent, so only charge
// counts there. The caller holds l.mu, so the parent never counts less than the promise.
func (l *Limit) charge(n int64, wakes bool) error {
	if l.parent == nil {
		return nil
	}
	switch more := max(n, l.guarantee) - max(l.inUse, l.guarantee); {
	case more > 0:
		return l.parent.reserve(more, wakes)
	case more < 0:
		l.parent.refund(-more, wakes)
	}
	return nil
}
