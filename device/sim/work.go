package sim

import (
	"slices"
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

	stream *Stream
	number uint64 // counts up over the device
	end    time.Duration
}

// failing is work that ends with an error.
func failing(err error) *work {
	return &work{engine: engineNone, do: func() error { return err }}
}

// run does the work, unless its stream has failed before. The caller holds the
// device's mu.
func (w *work) run() {
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

// UnderWay makes a Device a [device.Overseer]. It takes no time. The work of a failed stream, and on a lost
// device, is never done and is not under way.
func (d *Device) UnderWay(b device.Block, but ...device.Stream) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	var named time.Duration // until then they have work
	for _, s := range but {
		if own, ok := s.(*Stream); ok && own.dev == d {
			named = max(named, own.tail)
		}
	}
	return !d.faults.lost && slices.ContainsFunc(d.queue, func(w *work) bool {
		return w.end > named && !w.stream.failed(w.number) && slices.ContainsFunc(w.uses, func(x device.Block) bool {
			return x.Region == b.Region && x.Off < b.Off+b.Len && b.Off < x.Off+x.Len
		})
	})
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
