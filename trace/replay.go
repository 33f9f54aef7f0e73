package trace

import (
	"fmt"
	"runtime"
	"time"

	"github.com/bufslab/bufslab/slab"
)

// A Result is what a replay took. Its JSON is a row of bufslab replay -json.
type Result struct {
	Allocs           int64   `json:"allocs"`
	Frees            int64   `json:"frees"`
	PeakLiveBytes    int64   `json:"peak_live_bytes"`    // of the program
	PeakManagedBytes int64   `json:"peak_managed_bytes"` // of the pool, from its upstream
	FootprintRatio   float64 `json:"footprint_ratio"`    // peak managed by peak live
	UpstreamAllocs   int64   `json:"upstream_allocs"`
	UpstreamFrees    int64   `json:"upstream_frees"` // before the pool stopped holding
	MissRatio        float64 `json:"miss_ratio"`     // upstream allocs by allocs
	NsPerOp          float64 `json:"ns_per_op"`      // of an alloc or free

	// What was left once the pool had stopped holding.
	EndActiveBytes   int64 `json:"end_active_bytes"` // not 0 where the trace leaks
	EndHeldBytes     int64 `json:"end_held_bytes"`
	EndUpstreamBytes int64 `json:"end_upstream_bytes"`
}

// Replay runs t through a pool that was opened for it, and then calls the pool's
// StopHolding. It stops at the first allocation that fails and returns the
// error. It releases all buffers before it returns. Reading the trace is not
// timed, and the garbage that reading left is collected before the clock starts.
// A keyed trace gives an error that wraps ErrKeyed.
func Replay(t *Trace, p *slab.Pool) (Result, error) {
	if t.Keyed() {
		return Result{}, fmt.Errorf("trace: %s: %w", t.Name, ErrKeyed)
	}
	handles := make([]slab.PooledBuffer, t.slots)
	live := make([]bool, t.slots)
	defer releaseAll(handles, live)

	runtime.GC()
	start := time.Now()
	done, err := run(t.steps, p, handles)
	elapsed := time.Since(start)
	mark(t.steps[:done], live)

	r := result(t, p.Stats(), elapsed)
	p.StopHolding()
	end := p.Stats()
	r.EndActiveBytes, r.EndHeldBytes, r.EndUpstreamBytes = end.ActiveBytes, end.HeldBytes, end.ManagedBytes
	if err != nil {
		err = fmt.Errorf("trace: %s: op %d of %d: %w", t.Name, done+1, len(t.steps), err)
	}
	return r, err
}

// run is the loop that is timed. It returns how many steps went well.
func run(steps []step, p *slab.Pool, handles []slab.PooledBuffer) (done int, err error) {
	for i, s := range steps {
		if s.size == freed {
			err = handles[s.slot].Release()
		} else {
			handles[s.slot], err = p.Get(s.size)
		}
		if err != nil {
			return i, err
		}
	}
	return len(steps), nil
}

// mark sets the slots that are live after steps. run does not, as it is timed.
func mark(steps []step, live []bool) {
	for _, s := range steps {
		live[s.slot] = s.size != freed
	}
}

func releaseAll(handles []slab.PooledBuffer, live []bool) {
	for slot, h := range handles {
		if live[slot] {
			_ = h.Release() // each exactly once, so it has no error to give
		}
	}
}

func result(t *Trace, s slab.Stats, elapsed time.Duration) Result {
	return Result{
		Allocs:           int64(t.Allocs),
		Frees:            int64(t.Frees),
		PeakLiveBytes:    t.PeakLiveBytes,
		PeakManagedBytes: s.PeakManagedBytes,
		FootprintRatio:   ratio(s.PeakManagedBytes, t.PeakLiveBytes),
		UpstreamAllocs:   s.UpstreamAllocs,
		UpstreamFrees:    s.UpstreamFrees,
		MissRatio:        ratio(s.UpstreamAllocs, int64(t.Allocs)),
		NsPerOp:          ratio(elapsed.Nanoseconds(), int64(len(t.steps))),
	}
}

// ratio is 0 where there is nothing to divide by, as JSON has no infinity.
func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
