package main

import (
	"math"

	"github.com/bufslab/bufslab/trace"
)

// What an allocation and its free cost in time is estimated from what the replay has
// counted, not measured: so that tune chooses the same line each time, on any machine.
// The figures are those of docs/benchmarks.md, rounded: a pair that a processor's cache
// serves, what the strategy adds, and what a call of the system adds.
const (
	cachedNS   = 20
	strategyNS = 100
	upstreamNS = 3000
)

// pairNS estimates what an allocation and its free take.
func pairNS(r trace.Result) float64 {
	return cachedNS + strategyNS*float64(r.UncachedAllocs)/float64(max(r.Allocs+r.Grows, 1)) + upstreamNS*r.MissRatio
}

// A score is what a line takes on some traces.
type score struct {
	Config      string  `json:"config"`
	Footprint   float64 `json:"footprint_ratio"`   // geometric mean of peak managed by peak live
	Bookkeeping float64 `json:"bookkeeping_ratio"` // and of the records for it, by peak live
	MissRatio   float64 `json:"miss_ratio"`        // the largest
	PairNS      float64 `json:"pair_ns"`           // estimated, the mean
	Cost        float64 `json:"cost"`              // what tune looks for the least of
	Within      bool    `json:"within_budget"`     // of misses, on all traces

	peakLive int64 // of the largest trace
	managed  int64 // at most, of any
	over     float64
	exceeds  bool // the budget itself, of which Within wants to keep away
}

// An objective says what a line costs.
type objective struct {
	misses float64 // share of allocations that may go upstream
	ns     float64 // of a pair that are worth a hundredth of the peak memory
}

// aim is the part of the budget of misses that tune uses: what keeps it on one half of
// a trace exceeds it on the other else.
const aim = 0.8

// fewCalls any program may make, however few allocations it has.
const fewCalls = 8

// mean folds the results of the traces, of a line, into a score.
func (o objective) mean(line string, results []trace.Result, bookkeeping []int64) score {
	s := score{Config: line, Within: true}
	for i, r := range results {
		live := float64(max(r.PeakLiveBytes, 1))
		n := float64(len(results))
		s.Footprint += math.Log(max(r.FootprintRatio, 1)) / n
		s.Bookkeeping += float64(bookkeeping[i]) / live / n
		s.PairNS += pairNS(r) / n
		s.MissRatio = max(s.MissRatio, r.MissRatio)
		s.over = max(s.over, r.MissRatio/o.misses)
		if r.MissRatio > aim*o.misses && r.UpstreamAllocs > fewCalls {
			s.Within = false
			s.exceeds = s.exceeds || r.MissRatio > o.misses
		}
		s.peakLive, s.managed = max(s.peakLive, r.PeakLiveBytes), max(s.managed, r.PeakManagedBytes)
	}
	s.Footprint = math.Exp(s.Footprint)
	s.Cost = s.memory() * (1 + s.PairNS/o.ns/100)
	return s
}

// memory is all that a line takes, by peak live.
func (s score) memory() float64 { return s.Footprint + s.Bookkeeping }

// holds reports whether a line with score s keeps what it promised, where the defaults have the score t: it costs
// no more, and if it was to take less memory it takes no more of that, and no more misses than may be.
func (s score) holds(t score, less bool) bool {
	switch {
	case s.exceeds && (!t.exceeds || s.over > t.over), !t.exceeds && s.Cost > t.Cost:
		return false
	case less:
		return s.memory() <= t.memory() && s.Footprint <= t.Footprint*(1+enough)
	}
	return true
}

// better reports whether s is to be preferred to t: what keeps the budget, then what
// costs less.
func (s score) better(t score) bool {
	switch {
	case s.Within != t.Within:
		return s.Within
	case !s.Within:
		return s.over < t.over
	}
	return s.Cost < t.Cost
}

// enough is the share that a line has to cost less than the defaults to be chosen: a
// line has to be maintained.
const enough = 0.02
