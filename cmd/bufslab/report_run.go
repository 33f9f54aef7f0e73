package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/bufslab/bufslab/cmd/bufslab/internal/report"
	"github.com/bufslab/bufslab/internal/replaying"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/trace"
)

// A reporter runs the replays of a report.
type reporter struct {
	traces  []*trace.Trace
	ofFiles bool // which have a date
	setups  []setup
	rows    []row       // of each trace all lines
	seen    []*sampling // of each row
	bar     progress
	done    int // events
}

func newReporter(traces []*trace.Trace, setups []setup, stderr io.Writer) *reporter {
	events := 0
	for _, t := range traces {
		events += t.Events() * (len(setups) + 1) // the last is for the map
	}
	return &reporter{traces: traces, setups: setups, bar: newProgress(int64(events), "", stderr)}
}

func (r *reporter) run() (*report.Page, error) {
	defer r.bar.clear()
	page := &report.Page{Header: reportHeader}
	for _, s := range r.setups {
		page.Configs = append(page.Configs, lineName(s.line))
	}
	for i, label := range labels(r.traces) {
		t, err := r.trace(r.traces[i], label)
		if err != nil {
			return nil, err
		}
		page.Traces = append(page.Traces, t)
	}
	if err := r.maps(page.Traces); err != nil {
		return nil, err
	}
	page.Advice = advice(r.rows)
	if info, ok := debug.ReadBuildInfo(); ok {
		page.Version = versionOf(info)
	}
	return page, nil
}

// trace replays a trace on all lines.
func (r *reporter) trace(t *trace.Trace, label string) (report.Trace, error) {
	out := report.Trace{Name: label, Warnings: t.Warnings, Timed: timed(t), Sizes: sizesOf(t), About: r.about(t)}
	for _, s := range r.setups {
		m := &sampling{every: max(t.Events()/samples, 1), timed: out.Timed}
		result, err := r.replay(t, s, m.watch)
		each := newRow(label, lineName(s.line), result)
		if err = errors.Join(err, each.fault()); err != nil {
			return out, fmt.Errorf("%s with %s: %w", label, each.Config, err)
		}
		r.rows, r.seen = append(r.rows, each), append(r.seen, m)
		out.Rows = append(out.Rows, reportCells(each))
		out.Runs = append(out.Runs, m.samples)
	}
	return out, nil
}

// maps replays each trace once more, on the line whose heap is mapped.
func (r *reporter) maps(of []report.Trace) (err error) {
	chosen := chosenOf(r.rows)
	for i, t := range r.traces {
		at := i*len(r.setups) + chosen
		if of[i].Map, err = r.heapMap(t, r.setups[chosen], r.rows[at], r.seen[at]); err != nil {
			return err
		}
	}
	return nil
}

// replay runs a trace through a new pool of a setup, which watch looks at.
func (r *reporter) replay(t *trace.Trace, s setup, watch func(p *slab.Pool, events int, ns int64) int) (
	trace.Result, error,
) {
	return onPool(s.config, func(p *slab.Pool) (trace.Result, error) {
		defer func() { r.done += t.Events() }()
		r.bar.describe(t.Name + " " + s.line)
		return trace.Replayer{
			Watch:    func(events int, ns int64) int { return watch(p, events, ns) },
			Progress: func(events int) { r.bar.set(int64(r.done + events)) },
		}.Run(t, p)
	})
}

// heapMap replays once more, until the peak, and looks at the page heap there.
func (r *reporter) heapMap(t *trace.Trace, s setup, of row, m *sampling) (report.Map, error) {
	out := report.Map{Config: of.Config, None: "Its strategy has no page heap, so there is no map."}
	_, err := r.replay(t, s, func(p *slab.Pool, events int, _ int64) int {
		switch {
		case events < m.look():
			return m.look()
		case p.Stats().PeakManagedBytes < of.PeakManagedBytes:
			return events + 1
		}
		extents, has := replaying.Extents(p)
		if out.Extents = extents; len(extents) > 0 {
			out.None = ""
		} else if has {
			out.None = "It is empty."
		}
		return 0
	})
	return out, err
}

// about says in a line how long a trace is, and of when its file.
func (r *reporter) about(t *trace.Trace) string {
	text := fmt.Sprintf("Allocations: %s, frees: %s", humanize.Comma(int64(t.Allocs)), humanize.Comma(int64(t.Frees)))
	if t.Grows > 0 {
		text += ", grows: " + humanize.Comma(int64(t.Grows))
	}
	text += fmt.Sprintf(". At most %s were live", size(t.PeakLiveBytes))
	if t.LiveBytes > 0 {
		text += fmt.Sprintf(", and %s were never freed", size(t.LiveBytes))
	}
	if f, err := os.Stat(t.Name); err == nil && r.ofFiles {
		text += ". The file is of " + f.ModTime().UTC().Format("2 January 2006")
	}
	return text + "."
}

// lineName is what a line is called on the page.
func lineName(line string) string {
	if strings.TrimSpace(line) == "" {
		return "the defaults"
	}
	return line
}
