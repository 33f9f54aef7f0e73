package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"runtime"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/trace"
)

// keyedFlags are the options for keyed traces, as they were written.
type keyedFlags struct {
	growths []string
	budget  string
	given   bool
}

func (k *keyedFlags) define(flags *flag.FlagSet) {
	flags.Func("growth", "", func(text string) error {
		k.growths, k.given = append(k.growths, text), true
		return nil
	})
	flags.Func("budget", "", func(text string) error {
		if text == "" { // which is no budget, and no size
			return errors.New("want a size")
		}
		k.budget, k.given = text, true
		return nil
	})
}

// A keyedPool is a configuration of package growpool and its policy in words.
type keyedPool struct {
	growth string
	config growpool.Config
}

// pools reads the options and names everything that is wrong with any of them.
func (k keyedFlags) pools() ([]keyedPool, error) {
	var faults []error
	var budget int64
	if k.budget != "" {
		var err error
		if budget, err = device.ParseSize(k.budget); err == nil && budget == 0 {
			err = errors.New("want a size above 0")
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("-budget %q: %w", k.budget, err))
		}
	}
	if len(k.growths) == 0 {
		k.growths = []string{"exact", "pow2", "factor=1.5", "steps=16"}
	}
	var pools []keyedPool
	for _, text := range k.growths {
		g, err := growpool.ParseGrowth(text)
		faults = append(faults, err)
		pools = append(pools, keyedPool{text, growpool.Config{Growth: g, MaxBytes: budget}})
	}
	return pools, errors.Join(faults...)
}

func keyedJobs(t *trace.Trace, label string, setups []setup, pools []keyedPool) (jobs []job) {
	for _, s := range setups {
		for _, p := range pools {
			jobs = append(jobs, job{label, s.line + " and " + p.growth, t.Events(), func(func(int)) (line, error) {
				r, err := replayKeyed(t, s, p)
				r.Trace = label
				return r, err
			}})
		}
	}
	return jobs
}

// A keyedRow is the result of one keyed trace on one setup and policy.
type keyedRow struct {
	Trace        string  `json:"trace"`
	Config       string  `json:"config"`
	Growth       string  `json:"growth"`
	Requests     int64   `json:"requests"`
	Keys         int64   `json:"keys"`
	Hits         int64   `json:"hits"`
	Misses       int64   `json:"misses"`
	Grows        int64   `json:"grows"`
	HitRatio     float64 `json:"hit_ratio"`
	LargestBytes int64   `json:"largest_bytes"` // the sum of the largest request of each key
	HeldBytes    int64   `json:"held_bytes"`    // by all keys at the end
	HeldRatio    float64 `json:"held_ratio"`    // held by largest
	PeakBytes    int64   `json:"transient_peak_bytes"`
	PeakRatio    float64 `json:"transient_peak_ratio"` // peak by largest
	NsPerOp      float64 `json:"ns_per_op"`            // of a request

	// What was left once the pools were closed.
	EndHeldBytes   int64 `json:"end_held_bytes"`
	EndActiveBytes int64 `json:"end_active_bytes"`
}

func (r keyedRow) fault() error {
	if r.EndHeldBytes == 0 && r.EndActiveBytes == 0 {
		return nil
	}
	return fmt.Errorf("%d bytes held and %d active after the pool was closed", r.EndHeldBytes, r.EndActiveBytes)
}

func replayKeyed(t *trace.Trace, s setup, k keyedPool) (keyedRow, error) {
	below, err := slab.OpenConfig(s.config)
	if err != nil {
		return keyedRow{}, badSetup{err}
	}
	p := growpool.New[string](below, k.config)
	runtime.GC()
	start := time.Now()
	err = request(t, p)
	elapsed := time.Since(start)

	r := keyedRow{Config: s.line, Growth: k.growth, Requests: int64(t.Gets), LargestBytes: t.LargestBytes}
	r.count(t, p, elapsed)
	err = errors.Join(err, p.Close())
	r.EndHeldBytes, r.EndActiveBytes = p.MemoryUsage().HeldBytes, below.Stats().ActiveBytes
	return r, errors.Join(err, below.Close())
}

// request is the loop that is timed.
func request(t *trace.Trace, p *growpool.Pool[string]) error {
	keys, n := t.Keys(), 0
	for key, size := range t.Requests() {
		n++
		l, err := growpool.Acquire[byte](context.Background(), p, keys[key], size)
		if err == nil {
			err = l.Release()
		}
		if err != nil {
			return fmt.Errorf("op %d of %d: %w", n, t.Gets, err)
		}
	}
	return nil
}

func (r *keyedRow) count(t *trace.Trace, p *growpool.Pool[string], elapsed time.Duration) {
	s, u := p.Totals(), p.MemoryUsage()
	r.Keys = int64(len(t.Keys()))
	r.Hits, r.Misses, r.Grows = s.Hits, s.Misses, s.Grows
	r.HeldBytes, r.PeakBytes = u.TotalBytes, u.PeakBytes
	r.HitRatio = float64(s.Hits) / float64(r.Requests)
	r.HeldRatio = float64(r.HeldBytes) / float64(r.LargestBytes)
	r.PeakRatio = float64(r.PeakBytes) / float64(r.LargestBytes)
	r.NsPerOp = float64(elapsed.Nanoseconds()) / float64(r.Requests)
}

func (r keyedRow) cells() table.Row {
	return table.Row{
		r.Trace, r.Config, r.Growth, humanize.Comma(r.Requests), humanize.Comma(r.Keys), humanize.Comma(r.Misses),
		humanize.Comma(r.Grows), fmt.Sprintf("%.2f", 100*r.HitRatio), fmt.Sprintf("%.3f", r.HeldRatio),
		fmt.Sprintf("%.3f", r.PeakRatio), fmt.Sprintf("%.0f", r.NsPerOp),
	}
}
