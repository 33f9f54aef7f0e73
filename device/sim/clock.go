package sim

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Time is simulated: calls and waits move the clock on, nothing else does, and
// no goroutine ever sleeps. Work of a stream is given its end when it is
// enqueued. It is done when the clock gets there, in order of these ends. So
// what happens depends on the order of calls alone, and a run can be repeated.

// Late makes later work of streams end late, by random times that follow from
// seed, so that streams overtake each other. Each call moves the clock on a
// little; if none waits, the last work is done after about 100 calls. Every copy
// of a stream is then late, copies of pageable memory too. A copy reads its
// source when it is done, not when it is enqueued, so a missing wait shows as
// wrong bytes. [Device.Copy] waits for no stream.
func (d *Device) Late(seed uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.late = rand.New(rand.NewPCG(seed, seed))
}

// Clock returns the simulated time since the device was made.
func (d *Device) Clock() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

// Advance moves the clock on by t, as if the host computed for so long.
func (d *Device) Advance(t time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reach(later(d.now, max(t, 0)))
}

const (
	lateCall  = time.Microsecond // for a call, on average
	lateShift = 8                // a delay is below 1<<lateShift microseconds, and as likely of any magnitude
	pollTime  = time.Microsecond // at least, for a look at an event that is not done
)

// later returns t and so much more, or the end of time if that is beyond it: work that is never
// to end takes as long as a Duration can.
func later(t, more time.Duration) time.Duration {
	if more > math.MaxInt64-max(t, 0) {
		return math.MaxInt64
	}
	return t + more
}

// The caller of all below holds the device's mu.

// tick is the time of one call.
func (d *Device) tick() {
	t := d.costs.Call
	if d.late != nil {
		t = later(t, time.Duration(d.late.Int64N(int64(2*lateCall))))
	}
	d.reach(later(d.now, t))
}

// delay is how much later than it could a piece of work ends.
func (d *Device) delay() time.Duration {
	if d.late == nil {
		return 0
	}
	return time.Duration(d.late.IntN(1<<d.late.IntN(lateShift+1))) * time.Microsecond
}

// An engine does one thing at a time. Copies in different directions, and
// kernels, go on side by side.
type engine int

const (
	engineToDevice engine = iota
	engineToHost
	engineWithin
	engineCompute
	engineNone // for work that takes no time
	engines
)

// An interval is when an engine is busy.
type interval struct{ from, to time.Duration }

// occupy gives an engine work that takes cost, in the first gap that is not
// before after, and returns when it is over. Other work may use the engine
// while this work waits for its stream.
func (d *Device) occupy(e engine, cost, after time.Duration) (end time.Duration) {
	from := max(d.now, after)
	if cost == 0 {
		return from
	}
	busy := slices.DeleteFunc(d.engines[e], func(b interval) bool { return b.to <= d.now })
	at := 0
	for ; at < len(busy) && busy[at].from < later(from, cost); at++ {
		from = max(from, busy[at].to)
	}
	end = later(from, cost)
	d.engines[e] = slices.Insert(busy, at, interval{from, end})
	return end
}

// reach moves the clock to t, if it is not there yet, and does what is due. On
// a lost device all work is due, and fails.
func (d *Device) reach(t time.Duration) {
	d.now = max(d.now, t)
	for len(d.queue) > 0 && (d.queue[0].end <= d.now || d.faults.lost) {
		heap.Pop(&d.queue).(*work).run()
	}
}

// settle does all that is enqueued.
func (d *Device) settle() {
	last := d.now
	for _, w := range d.queue {
		last = max(last, w.end)
	}
	d.reach(last)
}
