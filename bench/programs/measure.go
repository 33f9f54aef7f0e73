package main

import (
	"errors"
	"runtime"
	"runtime/metrics"
	"slices"
	"time"
)

// figures are what one process says of itself.
type figures struct {
	Ops       float64 `json:"ops"`
	Seconds   float64 `json:"seconds"`
	Processor float64 `json:"processor"` // seconds of all processors
	Collector float64 `json:"collector"` // part of the processor time
	Slow      float64 `json:"slow"`      // seconds that 99 of 100 operations are within
	Resident  float64 `json:"resident"`  // bytes at most
	Faults    float64 `json:"faults"`    // pages touched first, without reading a disk
	Managed   float64 `json:"managed"`   // bytes that a pool of ours had at most
	Active    float64 `json:"active"`    // bytes of it that were out at most
	Trimmed   float64 `json:"trimmed"`   // bytes resident after the program; see settled
	Later     float64 `json:"later"`     // and after some time
}

// perOp is seconds an operation.
func (f figures) perOp() float64 { return f.Seconds / f.Ops }

// measure runs a program. Of what was done before only the peak of resident memory knows,
// which is less than any program's.
func (j *job) measure(run func(*job) error) (f figures, err error) {
	runtime.GC()
	before, err := usageNow()
	if err != nil {
		return f, err
	}
	collected := collector()
	begin := time.Now()
	if err := run(j); err != nil {
		return f, err
	}
	took := time.Since(begin)
	after, err := usageNow()
	if err != nil || len(j.times) == 0 {
		return f, errors.Join(err, errors.New("nothing was done"))
	}
	collected = collector() - collected
	used := after.processor - before.processor
	slices.Sort(j.times)
	managed, active := j.peaks()
	return figures{
		Ops: float64(len(j.times)), Seconds: took.Seconds(),
		Processor: used, Faults: after.faults - before.faults,
		Resident: after.resident, Managed: float64(managed), Active: float64(active),
		Collector: collected / used,
		Slow:      j.times[(len(j.times)-1)*99/100].Seconds(),
	}, nil
}

// collector returns the seconds of all processors that collections took which have ended. The
// runtime counts them at the end of each, and so it counts what a program uses: that is the
// system's figure instead, as a program may have few collections.
func collector() float64 {
	m := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(m)
	return m[0].Value.Float64()
}

// A usage is what the system has counted of this process until now.
type usage struct {
	processor, faults float64 // seconds, pages
	resident          float64 // bytes at most
}
