package trace

import (
	"fmt"
	"io"
	"runtime"

	"github.com/bufslab/bufslab/internal/replaying"
	"github.com/bufslab/bufslab/slab"
)

// Replay runs t through a pool that was opened for it, and then calls the pool's
// StopHolding. It is Replayer{}.Run.
func Replay(t *Trace, p *slab.Pool) (Result, error) { return Replayer{}.Run(t, p) }

// A Replayer runs traces through pools. A replay can be repeated: whatever else the
// machine does, and however many processors it has, all of a Result but NsPerOp is the
// same each time. For that a Replayer opens the pool again, as it was configured, and
// decides for it
//
//   - how many processors there are, and on which one a call runs: that of its thread in the recording.
//     One goroutine plays them all, in the order of the recording;
//   - the time: that of the recording, and where it has none a microsecond an event; caches, which keep
//     what is asked for often, then have the time of a program that touches all bytes of its buffers;
//   - that nobody hears of the garbage collector. A replay forgets nothing, so nothing
//     would be found;
//   - that contents are neither cleared nor copied: nobody reads them.
//
// Nobody else may use the pool meanwhile, and what it has counted before is gone. Streams are not replayed:
// when their work was done a recording does not say. The zero Replayer is ready for use.
type Replayer struct {
	// Processors that the pool has; 0 is as many as the recording has threads, at most 64, or 1 for a
	// Stream, whose threads are not known before. The first thread of the recording runs on the first one,
	// the next on the next one, and so on in turns.
	Processors int
	// Progress, if there is one, is called now and then with the events so far. Its time
	// is not counted.
	Progress func(events int)
	// Watch, if there is one, is called before the first event, and again when there were
	// as many events as it has returned; a number that is not ahead ends that. It is told how many
	// there were, and the time of the last one as recorded. It may ask the pool for its
	// Stats. Its time is not counted.
	Watch func(events int, timeNS int64) (next int)
}

// Run runs t through a pool that was opened for it, and then calls the pool's StopHolding.
// It stops at the first allocation that fails and returns the error. It releases all
// buffers before it returns. The garbage of before is collected before the clock starts.
// A keyed trace gives an error that wraps ErrKeyed.
func (o Replayer) Run(t *Trace, p *slab.Pool) (Result, error) {
	if t.Keyed() {
		return Result{}, keyedError(t.Name)
	}
	if o.Processors < 1 {
		o.Processors = min(t.Threads(), mostProcessors)
	}
	r, err := o.begin(p)
	if err != nil {
		return Result{}, err
	}
	r.of = fmt.Sprintf(" of %d", t.Events())
	for _, c := range t.chunks {
		if err = r.runWatched(c, t.slots); err != nil {
			break
		}
	}
	return r.end(t, err)
}

// Stream is Run of what a Reader reads, as it is read. It has no more of it in memory
// than some thousand events and what is live. Reading is not timed.
func (o Replayer) Stream(rows *Reader, p *slab.Pool) (Result, error) {
	r, err := o.begin(p)
	if err != nil {
		return Result{}, err
	}
	b := newBuilder(rows)
	for err == nil {
		var c *chunk
		if c, err = b.next(); err == io.EOF {
			return r.end(&b.Trace, nil)
		}
		if b.Keyed() {
			err = keyedError(b.Name)
		}
		if err == nil {
			err = r.runWatched(c, b.slots)
		}
	}
	return r.end(&b.Trace, err)
}

// mostProcessors bounds those that a recording asks for: a log may have thousands of threads.
const mostProcessors = 64

func keyedError(name string) error { return fmt.Errorf("trace: %s: %w", name, ErrKeyed) }

func (o Replayer) begin(p *slab.Pool) (*replay, error) {
	r := &replay{Replayer: o, pool: p}
	r.Processors = max(r.Processors, 1)
	var err error
	if r.machine, err = replaying.Reopen(p, r.Processors); err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	r.reserve = p.Stats().UpstreamAllocs
	runtime.GC()
	return r, nil
}
