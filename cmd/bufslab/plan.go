package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/trace"
	"github.com/bufslab/bufslab/trace/planner"
)

const planHelp = `bufslab plan [-limit TIME] [-align N] [-o FILE] TRACE

Finds places for the allocations of TRACE that need as few bytes as it can, and writes
them for strategy=plan,plan=FILE. A program that runs again then has each buffer where
it lay best, as far as it does the same again.

	bufslab plan -limit 1m -o train.plan.gz train.csv.gz
	bufslab replay -config strategy=plan,plan=train.plan.gz train.csv.gz

  -o FILE      what to write, compressed if its name ends in .gz; if omitted, TRACE
               with .plan.gz in place of .csv
  -limit TIME  how long to look for better places: 5s unless set. If that is too short
               for all allocations, the smallest are left to best fit
  -align N     alignment of blocks, as of the pool that uses the plan: 64 unless set

A row s,, of TRACE marks the beginning of a step: see slab.Pool.Step. A plan that would
need more than strategy=bestfit does is made for the largest allocations only.

It exits with 1 if FILE cannot be written, with 2 if an option is wrong, with 3 if TRACE is.
`

func plan(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("bufslab plan", flag.ContinueOnError)
	out := flags.String("o", "", "")
	limit := flags.Duration("limit", planTime, "")
	align := flags.Int("align", 64, "")
	if code, done := parse(flags, args, planHelp, stdout, stderr); done {
		return code
	}
	switch n := *align; {
	case flags.NArg() != 1:
		return fail(stderr, exitBad, errors.New("plan wants one TRACE"))
	case n < 8 || n > 4096 || n&(n-1) != 0:
		return fail(stderr, exitBad, fmt.Errorf("-align %d: want a power of two, 8 to 4096", n))
	case *limit <= 0:
		return fail(stderr, exitBad, fmt.Errorf("-limit %v: want a time like 5s", *limit))
	}
	traces, err := load(flags.Args(), stderr)
	if err != nil {
		return fail(stderr, exitInput, err)
	}
	p, err := planOf(traces[0], *align, *limit, stderr)
	if err != nil {
		return fail(stderr, exitInput, err)
	}
	name := cmp.Or(*out, strings.TrimSuffix(strings.TrimSuffix(flags.Arg(0), ".gz"), ".csv")+".plan.gz")
	if err := p.Save(name); err != nil {
		return fail(stderr, exitFailed, err)
	}
	fmt.Fprintf(stdout, "%s: %s for %d blocks, %.4f of the most live bytes\n", name, size(p.Height), p.Blocks, float64(p.Height)/float64(max(1, p.Floor)))
	return exitOK
}

// planOf plans for a trace, with a bar for the time.
func planOf(t *trace.Trace, align int, limit time.Duration, stderr io.Writer) (*planner.Plan, error) {
	ceiling, err := peakWithout(t, align)
	if err != nil {
		return nil, err
	}
	bar := newProgress(int64(limit/time.Millisecond), "planning", stderr)
	defer bar.clear()
	start := time.Now()
	more := func() bool {
		passed := time.Since(start)
		bar.set(min(int64(passed/time.Millisecond), int64(limit/time.Millisecond)-1))
		return passed < limit
	}
	return planner.Make(t, planner.Options{Align: align, Ceiling: ceiling, More: more})
}

// peakWithout returns the most bytes that strategy bestfit has for a trace.
func peakWithout(t *trace.Trace, align int) (int64, error) {
	p, err := slab.OpenConfig(slab.Config{Device: "virtual", Strategy: "bestfit", Align: align, CacheBytes: -1})
	if err != nil {
		return 0, err
	}
	r, err := trace.Replay(t, p)
	return r.PeakManagedBytes, errors.Join(err, p.Close())
}
