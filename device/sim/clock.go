package sim

import (
	"container/heap"
	"math/rand/v2"
	"slices"
	"time"
)

// Time is simulated: calls and waits move the clock on, nothing else does, and
// no goroutine ever sleeps. Work of a stream is given its end when it is
// enqueued. It is done when the clock gets there, in order of these ends. So
// what happens depends on the order of calls alone, and a run can be repeated.

const (
	lateCall  = time.Microsecond // for a call, on average
	lateShift = 8                // a delay is below 1<<lateShift microseconds, and as likely of any magnitude
	pollTime  = time.Microsecond // at least, for a look at an event that is not done
)

// A clock is the time of a device, and the work that is due. The caller of all below holds the device's mu.
type clock struct {
	now     time.Duration
	costs   Costs
	late    *rand.Rand          // nil: work is not late
	engines [engines][]interval // sorted
	queue   queue
	numbers uint64 // of the last piece of work or event
	lost    error  // why no work is done any more, nil while some is
}

// beLate is [Device.Late].
func (c *clock) beLate(seed uint64) { c.late = rand.New(rand.NewPCG(seed, seed)) }

// tick is the time of one call.
func (c *clock) tick() {
	t := c.costs.Call
	if c.late != nil {
		t = later(t, time.Duration(c.late.Int64N(int64(2*lateCall))))
	}
	c.reach(later(c.now, t))
}

// delay is how much later than it could a piece of work ends.
func (c *clock) delay() time.Duration {
	if c.late == nil {
		return 0
	}
	return time.Duration(c.late.IntN(1<<c.late.IntN(lateShift+1))) * time.Microsecond
}

// An interval is when an engine is busy.
type interval struct{ from, to time.Duration }

// occupy gives an engine work that takes cost, in the first gap that is not
// before after, and returns when it is over. Other work may use the engine
// while this work waits for its stream.
func (c *clock) occupy(e engine, cost, after time.Duration) (end time.Duration) {
	from := max(c.now, after)
	if cost == 0 {
		return from
	}
	busy := slices.DeleteFunc(c.engines[e], func(b interval) bool { return b.to <= c.now })
	at := 0
	for ; at < len(busy) && busy[at].from < later(from, cost); at++ {
		from = max(from, busy[at].to)
	}
	end = later(from, cost)
	c.engines[e] = slices.Insert(busy, at, interval{from, end})
	return end
}

// reach moves the clock to t, if it is not there yet, and does what is due. On
// a lost device all work is due, and fails.
func (c *clock) reach(t time.Duration) {
	c.now = max(c.now, t)
	for len(c.queue) > 0 && (c.queue[0].end <= c.now || c.lost != nil) {
		heap.Pop(&c.queue).(*work).run(c.lost)
	}
}

// settle does all that is enqueued.
func (c *clock) settle() {
	last := c.now
	for _, w := range c.queue {
		last = max(last, w.end)
	}
	c.reach(last)
}

// number returns the next number of a piece of work or an event.
func (c *clock) number() uint64 {
	c.numbers++
	return c.numbers
}
