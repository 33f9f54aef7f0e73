package trace

import (
	"fmt"
	"time"

	"github.com/bufslab/bufslab/internal/replaying"
	"github.com/bufslab/bufslab/slab"
)

// A replay is a trace on its way through a pool.
type replay struct {
	Replayer
	pool    *slab.Pool
	machine replaying.Machine
	handles []slab.PooledBuffer // by slot
	live    []bool
	on      int   // the processor
	now     int64 // nanoseconds
	events  int   // that went well
	reserve int64 // calls upstream before the first event
	elapsed time.Duration
	of      string // how many events, for errors

	nextWatch int // how many events there are when Watch is called again
}

// stepNS is how long an event takes where the recording has no times.
const stepNS = 1000

// run runs a chunk, for which there have to be handles for so many slots.
func (r *replay) run(c *chunk, slots int) error {
	if more := slots - len(r.handles); more > 0 {
		r.handles = append(r.handles, make([]slab.PooledBuffer, more)...)
		r.live = append(r.live, make([]bool, more)...)
	}
	start := time.Now()
	done, err := r.steps(c)
	r.elapsed += time.Since(start)

	for _, s := range c.steps[:done] { // steps does not, as it is timed
		if s.slot < grows {
			r.live[s.slot] = s.size != freed
		}
	}
	r.events += done
	if r.Progress != nil {
		r.Progress(r.events)
	}
	return err
}

// steps is the loop that is timed. It returns how many steps went well.
func (r *replay) steps(c *chunk) (done int, err error) {
	moves := r.Processors > 1 || r.machine.Advance != nil || !c.times.isZero()
	for i, s := range c.steps {
		if moves {
			r.move(c, i)
		}
		switch {
		case s.size == freed:
			err = r.handles[s.slot].Release()
		case s.slot < grows:
			r.handles[s.slot], err = r.pool.Get(c.size(s))
		default:
			err = r.grow(s.slot&^grows, c.size(s))
		}
		if err != nil {
			return i, err
		}
	}
	return len(c.steps), nil
}

// grow grows a buffer. If it cannot the buffer is as before.
func (r *replay) grow(slot uint32, size int) error {
	b, err := r.handles[slot].Grow(size)
	if err == nil {
		r.handles[slot] = b
	}
	return err
}

// move goes to the time and the processor of event i of a chunk.
func (r *replay) move(c *chunk, i int) {
	if on := int(c.threads.at(i)) % r.Processors; on != r.on {
		r.on = on
		r.machine.RunOn(on)
	}
	if c.times.isZero() {
		r.now += stepNS
	} else {
		r.now = c.times.at(i)
		r.machine.SetTime(r.now)
	}
	if r.machine.Advance != nil {
		r.machine.Advance(r.now)
	}
}

// end returns the result, and releases what is live.
func (r *replay) end(t *Trace, err error) (Result, error) {
	defer r.releaseAll()
	stats := r.pool.Stats()
	stats.UpstreamAllocs -= r.reserve
	s := result(t, stats, r.elapsed, r.events)
	s.UncachedAllocs, s.Processors = r.machine.Uncached(), r.Processors
	r.pool.StopHolding()
	end := r.pool.Stats()
	s.EndActiveBytes, s.EndHeldBytes, s.EndUpstreamBytes = end.ActiveBytes, end.HeldBytes, end.ManagedBytes
	if _, is := err.(*SyntaxError); err != nil && !is {
		err = fmt.Errorf("trace: %s: op %d%s: %w", t.Name, r.events+1, r.of, err)
	}
	return s, err
}

func (r *replay) releaseAll() {
	for slot, h := range r.handles {
		if r.live[slot] {
			_ = h.Release() // each exactly once, so it has no error to give
		}
	}
}
