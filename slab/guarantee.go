package slab

import (
	"fmt"

	"github.com/bufslab/bufslab/slab/internal/align"
)

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
// promises leave of l's maximum. It is a *LimitError if the bytes are in use now, though the
// pools that share l, or a Limit or device below l, were asked to give held memory back. A
// GetContext that needs bytes which are promised to others fails, also if it waits already.
func (l *Limit) Within(max, guarantee int64) (*Limit, error) {
	err := l.reservePromise(max, guarantee)
	if outOfMemory(err) { // l's, or that of a Limit around it
		for _, b := range budgetsOf(l) {
			if b.Reclaim(nil, func() bool { err = l.reservePromise(max, guarantee); return !outOfMemory(err) }) {
				break
			}
		}
	}
	if err != nil {
		return nil, err
	}
	child := &Limit{upstream: l, up: l.up, grain: l.grain, max: max, parent: l, guarantee: guarantee}
	child.budget.Around = &l.budget
	if guarantee > 0 {
		child.budget.Promise = child.promise
		l.top().budget.WakeMembers() // what a call waits for may never come now
	}
	return child.ready(), nil
}

// top returns the outermost Limit that counts for l.
func (l *Limit) top() *Limit {
	for l.parent != nil {
		l = l.parent
	}
	return l
}

// promise returns what the parent has promised to l, and how much of it is in use.
func (l *Limit) promise() (bytes, used int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.guarantee, l.inUse
}

// reservePromise reserves the guarantee of a child.
func (l *Limit) reservePromise(max, guarantee int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if guarantee < 0 || guarantee > max || guarantee > l.max-l.promised {
		return &GuaranteeError{guarantee, max, l.max, l.promised}
	}
	if err := l.reserveLocked(guarantee, true); err != nil {
		return err
	}
	l.addPromised(guarantee)
	l.addIdle(guarantee)
	return nil
}

// addPromised counts n more bytes that l has promised. Where they exceed what was promised to l, they are
// missing around l as well. The caller holds l.mu.
func (l *Limit) addPromised(n int64) {
	before := l.firm()
	l.promised += n
	l.parent.promisedMore(l.firm() - before)
}

func (l *Limit) promisedMore(n int64) {
	if l != nil && n != 0 {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.addPromised(n)
	}
}

// firm returns the bytes that the parent counts for l as long as promises stand. The caller holds l.mu.
func (l *Limit) firm() int64 { return max(l.promised, l.guarantee) }

// addIdle counts n more promised bytes in l that are not in use, and in the Limits that count for l.
func (l *Limit) addIdle(n int64) {
	for at := l; n != 0 && at != nil; at = at.parent {
		at.idle.Add(n)
	}
}

// EndGuarantee gives promised bytes that are not in use back to the parent. The Limit then works
// without a guarantee. Later calls do nothing.
func (l *Limit) EndGuarantee() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.guarantee == 0 {
		return
	}
	firm, unused := l.firm(), l.unused(l.inUse)
	l.guarantee = 0
	l.parent.promisedMore(l.firm() - firm)
	l.parent.addIdle(-unused)
	l.parent.refund(unused, true)
}

// unused returns the promised bytes that are not in use if n are.
func (l *Limit) unused(n int64) int64 { return max(0, l.guarantee-n) }

// charge has the parent count a change of inUse to n: it reserves the growth there, or refunds the rest.
// wakes is passed as first to reserve, as drawn to refund. A child draws past its parent, so only charge
// counts there. The caller holds l.mu, so the parent never counts less than the promise.
func (l *Limit) charge(n int64, wakes bool) error {
	if l.parent == nil {
		return nil
	}
	switch more := max(n, l.guarantee) - max(l.inUse, l.guarantee); {
	case more > 0:
		if err := l.parent.reserve(more, wakes); err != nil {
			return l.toChild(err)
		}
	case more < 0:
		l.parent.refund(-more, wakes)
	}
	l.parent.addIdle(l.unused(n) - l.unused(l.inUse))
	return nil
}

// toChild returns an error of the parent, or of a Limit around it, as l has it: what the parent has promised
// to l is not promised to others. The caller holds l.mu.
func (l *Limit) toChild(err error) error {
	if e := err.(*LimitError); e.limit == l.parent {
		e.Promised -= l.firm()
	}
	return err
}

// A need is what a request takes at least of a Limit.
type need struct {
	asked    int64 // by a pool
	bytes    int64 // with all that the Limit before has promised to others; 0 if that counts nothing here
	promised int64 // to the Limit before
}

// never returns why l cannot serve a request before a promise ends, nil if it can. It sets n for the next Limit.
func (l *Limit) never(n *need) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := n.asked
	if own <= int64(maxAsk) { // rounded up, more might not fit an int
		own = int64(align.Up(int(own), l.grain))
	}
	bytes, others := max(own, n.bytes), l.promised-n.promised
	if bytes > l.max-others {
		return &LimitError{l.max, l.inUse, n.asked, others + bytes - own, l}
	}
	n.bytes, n.promised = 0, 0
	if l.parent != nil {
		n.bytes, n.promised = max(bytes+others, l.guarantee), l.firm()
	}
	return nil
}
