package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/bufslab/bufslab/cmd/bufslab/internal/report"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/trace"
)

// samples is how often a replay is looked at, about: ten times for each column of a chart,
// which shows the highest.
const samples = 4000

// A sampling is what was seen of a pool while a trace ran through it.
type sampling struct {
	every      int // events
	timed      bool
	samples    []report.Sample
	peak       int64
	beforePeak int // events, of the last sample before the most bytes were managed
	last       int // events, of the last sample
	live       int64
	mostLive   int // events, of the sample with the most live bytes
}

func (m *sampling) watch(p *slab.Pool, events int, ns int64) int {
	s := p.Stats()
	if s.PeakManagedBytes > m.peak {
		m.peak, m.beforePeak = s.PeakManagedBytes, m.last
	}
	if s.ActiveBytes > m.live {
		m.live, m.mostLive = s.ActiveBytes, events
	}
	m.last = events
	at := int64(events)
	if m.timed {
		at = ns
	}
	m.samples = append(m.samples, report.Sample{At: at, Live: s.ActiveBytes, Managed: s.ManagedBytes})
	return events + m.every
}

// look returns after how many events to begin to look for the peak. A pool with a reserve has
// the most from the beginning: there it is where the program has the most.
func (m *sampling) look() int {
	if m.samples[0].Managed == m.peak {
		return m.mostLive
	}
	return m.beforePeak
}

// timed says whether a trace has times.
func timed(t *trace.Trace) bool {
	for op := range t.Ops() {
		if op.TimeNS > 0 {
			return true
		}
	}
	return false
}

func sizesOf(t *trace.Trace) []report.Size {
	var sizes report.Sizes
	for op := range t.Ops() {
		if op.Kind == trace.Alloc || op.Kind == trace.Grow {
			sizes.Add(op.Size)
		}
	}
	return sizes.List()
}

// chosenOf returns the first row whose configuration the advice names, or the first. The rows of
// a trace stand in the order of the lines.
func chosenOf(rows []row) int {
	best := smallest(candidates(rows))
	if best == nil {
		return 0
	}
	return slices.IndexFunc(rows, func(r row) bool { return r.Config == best.line })
}

// reportHeader is that of bufslab replay, less what is the same in all rows of a trace, and the
// time, which no two replays have in common.
var reportHeader = []string{"config", "peak managed", "footprint", "upstream", "miss %", "uncached %", "pair ns"}

func reportCells(r row) []string {
	return []string{
		r.Config, size(r.PeakManagedBytes), fmt.Sprintf("%.3f", r.FootprintRatio),
		humanize.Comma(r.UpstreamAllocs), fmt.Sprintf("%.2f", 100*r.MissRatio),
		fmt.Sprintf("%.2f", 100*float64(r.UncachedAllocs)/float64(max(r.Allocs+r.Grows, 1))),
		humanize.Comma(int64(math.Round(pairNS(r.Result)))),
	}
}
