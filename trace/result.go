package trace

import (
	"time"

	"github.com/bufslab/bufslab/slab"
)

// A Result is what a replay took. Its JSON is a row of bufslab replay -json.
type Result struct {
	Allocs           int64   `json:"allocs"`
	Frees            int64   `json:"frees"`
	Grows            int64   `json:"grows"`
	Processors       int     `json:"processors"`         // that the pool had
	PeakLiveBytes    int64   `json:"peak_live_bytes"`    // of the program
	PeakManagedBytes int64   `json:"peak_managed_bytes"` // of the pool, from its upstream
	FootprintRatio   float64 `json:"footprint_ratio"`    // peak managed by peak live
	UpstreamAllocs   int64   `json:"upstream_allocs"`    // since the pool was opened, which takes a reserve
	UpstreamFrees    int64   `json:"upstream_frees"`     // before the pool stopped holding
	UncachedAllocs   int64   `json:"uncached_allocs"`    // that no processor's cache has served
	MissRatio        float64 `json:"miss_ratio"`         // upstream allocs by allocs and grows
	NsPerOp          float64 `json:"ns_per_op"`          // of an alloc or free

	// What was left once the pool had stopped holding.
	EndActiveBytes   int64 `json:"end_active_bytes"` // what the trace leaks
	EndHeldBytes     int64 `json:"end_held_bytes"`
	EndUpstreamBytes int64 `json:"end_upstream_bytes"`
}

func result(t *Trace, s slab.Stats, elapsed time.Duration, events int) Result {
	return Result{
		Allocs:           int64(t.Allocs),
		Frees:            int64(t.Frees),
		Grows:            int64(t.Grows),
		PeakLiveBytes:    t.PeakLiveBytes,
		PeakManagedBytes: s.PeakManagedBytes,
		FootprintRatio:   ratio(s.PeakManagedBytes, t.PeakLiveBytes),
		UpstreamAllocs:   s.UpstreamAllocs,
		UpstreamFrees:    s.UpstreamFrees,
		MissRatio:        ratio(s.UpstreamAllocs, int64(t.Allocs+t.Grows)),
		NsPerOp:          ratio(elapsed.Nanoseconds(), int64(events)),
	}
}

// ratio is 0 where there is nothing to divide by, as JSON has no infinity.
func ratio(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
