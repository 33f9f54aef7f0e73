package sim

import (
	"time"

	"github.com/bufslab/bufslab/device"
)

// A work is a piece of work: planned, and then enqueued by a stream.
type work struct {
	engine engine
	cost   time.Duration
	waits  bool // the host waits for it
	do     func() error
	uses   []device.Block

	of     *progress
	number uint64 // counts up over the device
	end    time.Duration
}

// A progress is how far a stream is with its work.
type progress struct {
	tail time.Duration // when the last work ends
	err  error         // of the first work that failed
	at   uint64        // its number
}

// fail makes err the error of the stream, unless work before has failed.
func (p *progress) fail(at uint64, err error) {
	if p.err == nil || at < p.at {
		p.err, p.at = err, at
	}
}

// failed reports whether work before the given one has failed.
func (p *progress) failed(before uint64) bool { return p.err != nil && p.at < before }

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

// failing is work that ends with an error.
func failing(err error) *work {
	return &work{engine: engineNone, do: func() error { return err }}
}

// run does the work, unless its stream has failed before or the device is lost.
func (w *work) run(lost error) {
	if w.of.failed(w.number) {
		return
	}
	err := lost
	if err == nil {
		err = w.do()
	}
	if err != nil {
		w.of.fail(w.number, err)
	}
}

// A queue is a heap of what is enqueued on all streams, by end and number.
type queue []*work

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].end < q[j].end || q[i].end == q[j].end && q[i].number < q[j].number
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(w any)   { *q = append(*q, w.(*work)) }
func (q *queue) Pop() any {
	n := len(*q) - 1
	w := (*q)[n]
	(*q)[n], *q = nil, (*q)[:n]
	return w
}
