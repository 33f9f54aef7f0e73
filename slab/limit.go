package slab

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/intervals"
	"github.com/bufslab/bufslab/slab/internal/align"
	"github.com/bufslab/bufslab/slab/internal/budget"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// A Limit never has more than max bytes of its upstream, not for a moment: it
// reserves bytes before it asks. If the upstream gives each block a region of its
// own, the whole region counts. Several pools may be opened on one Limit and share
// its budget. It is safe for concurrent use if its upstream is.
type Limit struct {
	voucher
	upstream Allocator
	up       upstream.Checked // the same
	grain    int
	budget   budget.Budget

	mu        sync.Mutex // of max and the counts; a parent's is taken within its child's
	max       int64
	inUse     int64
	refused   int64  // the most bytes in use when a call was refused, since the last wake
	promised  int64  // to children, of max, and what these promise beyond that
	parent    *Limit // that promised guarantee bytes; nil if none did
	guarantee int64
	idle      atomic.Int64 // of inUse, promised and not in use; see count

	settling sync.Mutex                    // of tight; before the locks of budget
	tight    atomic.Pointer[budget.Waiter] // first in the queue while more is in use than max; see setmax.go
}

var _ Allocator = (*Limit)(nil)

// NewLimit returns a Limit of max bytes on upstream.
func NewLimit(upstream Allocator, max int64) *Limit { return newLimit(upstream, max, 1) }

// newLimit also wants host memory to be aligned.
func newLimit(over Allocator, max int64, align int) *Limit {
	if over == nil {
		panic("slab: a Limit has no upstream")
	}
	up := checked(over, align)
	return (&Limit{upstream: over, up: up, grain: grainOf(over), max: max}).ready()
}

// ready returns l, with the members that refer to l.
func (l *Limit) ready() *Limit {
	l.voucher = l.up.Voucher().ThatGivesUp(l.giveUp).ThatAligns(l.allocAligned)
	l.budget.Drawn = func() int64 { return l.InUse() - l.idle.Load() }
	l.budget.Left = func() int64 { return l.maximum() - l.InUse() }
	return l
}

// Unwrap returns the upstream.
func (l *Limit) Unwrap() Allocator { return l.upstream }

// InUse returns the bytes that are counted against the limit: the bytes in use, and the
// promised bytes that children do not use.
func (l *Limit) InUse() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.inUse
}

// reserve counts n bytes, or says why it cannot. First is false where the caller has reserved
// bytes before, and will refund them if reserve refuses now.
func (l *Limit) reserve(n int64, first bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reserveLocked(n, first)
}

func (l *Limit) reserveLocked(n int64, first bool) error {
	err := l.allow(n, first)
	if err == nil {
		l.inUse += n
	} else if first {
		l.refused = max(l.refused, l.inUse)
	}
	return err
}

// allow has the parent count n more bytes, or says why there is no room for them.
func (l *Limit) allow(n int64, first bool) error {
	if n > l.max-l.inUse {
		return &LimitError{l.max, l.inUse, n, l.promised, l}
	}
	return l.charge(l.inUse+n, first)
}

// short reports whether there is no room for n bytes more. It returns how many the parent would count.
func (l *Limit) short(n int64) (around int64, short bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	around = n
	if l.parent != nil {
		around = max(l.inUse+n, l.guarantee) - max(l.inUse, l.guarantee)
	}
	return around, n > l.max-l.inUse
}

// refund undoes reserve, and wakes the calls that wait for this Limit and for the Limits around it. Bytes
// that come back to a promise change no count there, but a call that was refused there may have them now.
// Bytes that were reserved and never drawn wake a call only if one was refused meanwhile, with more in use
// than now: otherwise a try that the upstream refuses would wake itself, for ever.
func (l *Limit) refund(n int64, drawn bool) {
	l.mu.Lock()
	_ = l.charge(l.inUse-n, drawn) // less is never refused
	l.inUse -= n
	wake := n > 0 && (drawn || l.inUse < l.refused)
	if wake {
		l.refused = 0
	}
	l.mu.Unlock()
	for at := l; n > 0 && at != nil; at = at.parent {
		at.budget.Queue.Changed()
		at.settleSoon()
	}
	if wake {
		l.budget.Wake()
	}
}

// keepIf gives n reserved bytes back if draw fails or panics.
func (l *Limit) keepIf(n int64, draw func() error) error {
	drawn := false
	defer func() {
		if !drawn {
			l.refund(n, false)
		}
	}()
	err := draw()
	drawn = err == nil
	return err
}

// Alloc returns a block of size bytes, or a *LimitError.
func (l *Limit) Alloc(size int) (device.Block, error) { return l.allocAligned(size, 1) }

func (l *Limit) allocAligned(size, to int) (device.Block, error) {
	if err := upstream.CheckSize(size); err != nil || size == 0 {
		return device.Block{}, err
	}
	n := int64(align.Up(size, l.grain))
	if err := l.reserve(n, true); err != nil {
		return device.Block{}, err
	}
	var b device.Block
	err := l.keepIf(n, func() (err error) { b, err = l.up.AllocAligned(size, to); return err })
	if err != nil {
		return b, err
	}
	// A region may still turn out larger, if the device did not tell.
	if err := l.reserve(l.up.Footprint(b)-n, false); err != nil {
		l.up.Free(b)
		l.refund(n, false)
		return device.Block{}, err
	}
	return b, nil
}

// Free takes a block back.
func (l *Limit) Free(b device.Block) {
	n := l.up.Footprint(b)
	l.up.Free(b)
	l.refund(n, true)
}

// giveUp puts pages in quarantine and takes n bytes for them from the count.
func (l *Limit) giveUp(pages device.Block, n int64) bool {
	if !l.up.GiveUp(pages, n) {
		return false
	}
	l.refund(n, true)
	return true
}

// Reserve makes a Limit a [device.Reserver] as far as its upstream is one;
// what a range commits counts.
func (l *Limit) Reserve(size int) (device.Range, error) {
	r, err := l.up.Reserve(size)
	if err != nil {
		return nil, err
	}
	return &limitRange{Range: r, l: l}, nil
}

// A limitRange counts a byte once, however often it is committed.
type limitRange struct {
	device.Range
	l         *Limit
	committed intervals.Set
}

func (r *limitRange) Commit(off, n int) error {
	more := int64(max(0, n-r.committed.Overlap(off, off+n)))
	if err := r.l.reserve(more, true); err != nil {
		return err
	}
	if err := r.l.keepIf(more, func() error { return r.Range.Commit(off, n) }); err != nil || n == 0 {
		return err
	}
	r.committed.Add(off, off+n)
	return nil
}

func (r *limitRange) Ready() int { return upstream.Ready(r.Range) }

func (r *limitRange) Decommit(off, n int) error {
	if err := r.Range.Decommit(off, n); err != nil {
		return err
	}
	r.l.refund(int64(r.committed.Overlap(off, off+n)), true)
	r.committed.Remove(off, off+n)
	return nil
}

func (r *limitRange) Close() error {
	if err := r.Range.Close(); err != nil {
		return err
	}
	r.l.refund(int64(r.committed.Overlap(0, math.MaxInt)), true)
	r.committed = nil
	return nil
}

// maximum returns what NewLimit, Within or SetMax has set.
func (l *Limit) maximum() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.max
}
