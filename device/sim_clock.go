package device

import (
	queue "container/heap"
	"math/rand/v2"
	"slices"
	"time"
)

// The time of a Sim is simulated: calls and waits move it on, nothing else
// does, and nobody ever sleeps. Work of a stream is given its end when it is
// enqueued, and is done when the clock gets there, in order of these ends. So
// what happens depends on the order of calls alone, and a run can be repeated.

// SimCosts say what work on a [Sim] takes by its clock. The zero value takes no
// time: work is then done within the call that enqueues it.
type SimCosts struct {
	Call    time.Duration // of the host, for each call
	Latency time.Duration // before the bytes of a copy or fill move

	// Bytes a second, by direction; 0 takes no time. Within is for fills too.
	ToDevice, ToHost, Within float64
	// Pageable is for copies to and from host memory that is not page-locked.
	// A stream's Copy of it returns when the copy is done, unless the device is late.
	Pageable float64
}

// Costs sets what later work takes.
func (s *Sim) Costs(c SimCosts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.costs = c
}

// Late makes later work of streams end late, by random times that follow from
// seed, so that streams overtake each other; some 100 calls go by until the last
// is done if nobody waits. Every copy is then late, pageable ones too, and each
// call moves the clock on a little. What a program forgets to wait for shows as
// wrong bytes: a copy reads its source when it is done, not when it is enqueued.
// [Sim.Copy] waits for nobody.
func (s *Sim) Late(seed uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = rand.New(rand.NewPCG(seed, seed))
}

// Clock returns the simulated time since the device was made.
func (s *Sim) Clock() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Advance moves the clock on by d, while the host is busy with something else.
func (s *Sim) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reach(s.now + max(d, 0))
}

const (
	lateCall  = time.Microsecond // for a call, on average
	lateShift = 8                // a delay is below 1<<lateShift microseconds, and as likely of any magnitude
	pollTime  = time.Microsecond // at least, for a look at an event that is not done
)

// tick is the time of one call.
func (s *Sim) tick() {
	t := s.costs.Call
	if s.late != nil {
		t += time.Duration(s.late.Int64N(int64(2 * lateCall)))
	}
	s.reach(s.now + t)
}

// delay is how much later than it could a piece of work ends.
func (s *Sim) delay() time.Duration {
	if s.late == nil {
		return 0
	}
	return time.Duration(s.late.IntN(1<<s.late.IntN(lateShift+1))) * time.Microsecond
}

// transfer is the time that n bytes take.
func (c SimCosts) transfer(n int, perSecond float64) time.Duration {
	if perSecond <= 0 {
		return c.Latency
	}
	return c.Latency + time.Duration(float64(n)/perSecond*float64(time.Second))
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

// occupy gives an engine work for so long, in the first gap that is not before
// a moment, and returns when it is over. What has to wait for its stream
// keeps nobody from using the engine until then.
func (s *Sim) occupy(e engine, cost, after time.Duration) (end time.Duration) {
	from := max(s.now, after)
	if cost == 0 {
		return from
	}
	busy := slices.DeleteFunc(s.engines[e], func(b interval) bool { return b.to <= s.now })
	at := 0
	for ; at < len(busy) && busy[at].from < from+cost; at++ {
		from = max(from, busy[at].to)
	}
	s.engines[e] = slices.Insert(busy, at, interval{from, from + cost})
	return from + cost
}

// An interval is when an engine is busy.
type interval struct{ from, to time.Duration }

// reach moves the clock to t, if it is not there yet, and does what is due. Of
// a lost device everything is: none of it is done.
func (s *Sim) reach(t time.Duration) {
	s.now = max(s.now, t)
	for len(s.queue) > 0 && (s.queue[0].end <= s.now || s.faults.lost) {
		queue.Pop(&s.queue).(*simWork).run()
	}
}

// settle does all that is enqueued.
func (s *Sim) settle() {
	last := s.now
	for _, w := range s.queue {
		last = max(last, w.end)
	}
	s.reach(last)
}

// A simWork is a piece of work: planned, and then enqueued by a stream.
type simWork struct {
	engine engine
	cost   time.Duration
	waits  bool // the host waits for it
	do     func() error

	stream *SimStream
	number uint64 // counts up over the device
	end    time.Duration
}

// run does the work, unless its stream has failed before.
func (w *simWork) run() {
	s := w.stream
	if s.failed(w.number) {
		return
	}
	if s.dev.faults.lost {
		s.fail(w.number, s.dev.errLost())
		return
	}
	if err := w.do(); err != nil {
		s.fail(w.number, err)
	}
}

// A simQueue is a heap of what is enqueued on all streams, by end and number.
type simQueue []*simWork

func (q simQueue) Len() int { return len(q) }
func (q simQueue) Less(i, j int) bool {
	return q[i].end < q[j].end || q[i].end == q[j].end && q[i].number < q[j].number
}
func (q simQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *simQueue) Push(w any)   { *q = append(*q, w.(*simWork)) }
func (q *simQueue) Pop() any {
	n := len(*q) - 1
	w := (*q)[n]
	(*q)[n], *q = nil, (*q)[:n]
	return w
}
