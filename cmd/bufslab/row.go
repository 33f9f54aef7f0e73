package main

import (
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/trace"
)

// A row is the result of one trace on one setup.
type row struct {
	Trace  string `json:"trace"`
	Config string `json:"config"`
	trace.Result
}

func newRow(label, line string, r trace.Result) row { return row{label, line, r} }

// fault says what the pool has left behind, once it had stopped holding, though the trace
// has not leaked it.
func (r row) fault() error {
	if r.EndActiveBytes != 0 || r.EndHeldBytes == 0 && r.EndUpstreamBytes == 0 {
		return nil
	}
	return fmt.Errorf("%d bytes held and %d upstream after the pool stopped holding", r.EndHeldBytes, r.EndUpstreamBytes)
}

func (r row) cells() table.Row {
	return table.Row{
		r.Trace, r.Config, humanize.Comma(r.Allocs), size(r.PeakLiveBytes), size(r.PeakManagedBytes),
		fmt.Sprintf("%.3f", r.FootprintRatio), humanize.Comma(r.UpstreamAllocs),
		fmt.Sprintf("%.2f", 100*r.MissRatio), size(r.EndActiveBytes), fmt.Sprintf("%.0f", r.NsPerOp),
	}
}

func replayOne(t *trace.Trace, label string, s setup, o trace.Replayer) (row, error) {
	r, err := onPool(s.config, func(p *slab.Pool) (trace.Result, error) { return o.Run(t, p) })
	return newRow(label, s.line, r), err
}

// onPool opens a pool, has run use it, and closes it.
func onPool(c slab.Config, run func(p *slab.Pool) (trace.Result, error)) (trace.Result, error) {
	p, err := slab.OpenConfig(c)
	if err != nil {
		return trace.Result{}, badSetup{err}
	}
	r, err := run(p)
	return r, errors.Join(err, p.Close())
}

// A badSetup is a configuration that is wrong in a way that only opening it
// tells, like a device that is not there.
type badSetup struct{ error }

// A badInput is a trace that is wrong in a way that only replaying it tells.
type badInput struct{ error }

func codeOf(err error) int {
	var syntax *trace.SyntaxError
	switch {
	case errors.As(err, new(badSetup)):
		return exitBad
	case errors.As(err, new(badInput)), errors.As(err, &syntax):
		return exitInput
	}
	return exitFailed
}

func size(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }
