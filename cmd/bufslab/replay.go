package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/trace"
)

const replayHelp = `bufslab replay [-config LINE]... [-growth POLICY]... [-budget SIZE] [-json] [TRACE...]

Runs every TRACE through a new pool for every LINE and prints what that took.

	TRACE         a CSV file op,id,size or a log of RMM, gzip or not, or a keyed
	              one, op,key,size; if there is none, the recording of an Apache Arrow program that ships
	              with the command
	-config LINE  a configuration as slab.ParseConfig takes it, for instance
	              strategy=slab,cache_bytes=0,max_bytes=4GiB; once for each
	              pool. If there is none, all strategies and one more with its
	              caches off. A line without device= runs on device=virtual,
	              which has addresses and no memory behind them
	-json         one JSON object a line instead of a table

	peak live     the most bytes that the program had at a time
	peak managed  the most bytes that the pool had from its device
	footprint     peak managed by peak live; 1 is the floor
	upstream      calls to the device for memory
	miss %        upstream calls by allocations
	ns/op         time of an allocation or a free

A keyed TRACE runs through a growpool.Pool for every LINE and POLICY, each
request a lease that is released at once. Without LINE its memory is
device=virtual,strategy=direct.

	-growth POLICY  exact, pow2, factor=F or steps=N, once for each pool. If there
	                is none, exact, pow2, factor=1.5 and steps=16
	-budget SIZE    the most that the pool may hold, for instance 4GiB

	grows, misses   requests that made a buffer larger; that found none
	hit %           the rest of the requests
	held            bytes of all buffers at the end, by the sum of the largest
	                request of each key; 1 is the floor without a budget
	transient peak  the most bytes held at a time, while growing too, by that sum

It exits with 1 if a replay fails or leaves memory behind once the pool has
stopped holding, and with 2 if LINE, TRACE or an option is wrong.
`

// A setup is a configuration as it was written and as it was read.
type setup struct {
	line   string
	config slab.Config
}

// A row is the result of one trace on one setup.
type row struct {
	Trace  string `json:"trace"`
	Config string `json:"config"`
	trace.Result
}

func (r row) leftBehind() error {
	if r.EndActiveBytes == 0 && r.EndHeldBytes == 0 && r.EndUpstreamBytes == 0 {
		return nil
	}
	return fmt.Errorf("%d bytes active, %d held and %d upstream after the pool stopped holding",
		r.EndActiveBytes, r.EndHeldBytes, r.EndUpstreamBytes)
}

// A job is one replay.
type job struct {
	trace *trace.Trace
	what  string // it runs on
	run   func() (line, error)
}

func replay(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("bufslab replay", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "")
	var lines []string
	flags.Func("config", "", func(line string) error {
		lines = append(lines, line)
		return nil
	})
	var keyed keyedFlags
	keyed.define(flags)
	if code, done := parse(flags, args, replayHelp, stdout, stderr); done {
		return code
	}
	// All input is read before anything runs: mistakes are told at once.
	traces, err := load(flags.Args())
	if err != nil {
		return fail(stderr, exitBad, err)
	}
	for _, t := range traces {
		for _, w := range t.Warnings {
			fmt.Fprintln(stderr, "bufslab: warning:", w)
		}
	}
	jobs, err := jobsOf(traces, lines, keyed)
	if err != nil {
		return fail(stderr, exitBad, err)
	}
	var out printer = newTables(stdout)
	if *asJSON {
		out = newJSON(stdout)
	}
	return runAll(jobs, out, stderr)
}

// jobsOf plans every trace on every setup.
func jobsOf(traces []*trace.Trace, lines []string, k keyedFlags) ([]job, error) {
	plain, err := setupsOf(lines, plainLines())
	keyed, _ := setupsOf(lines, []string{"device=virtual,strategy=direct"}) // the same lines have the same faults
	pools, err2 := k.pools()
	if err = errors.Join(err, err2); err != nil {
		return nil, err
	}
	var jobs []job
	needless := k.given
	for _, t := range traces {
		if t.Keyed() {
			jobs, needless = append(jobs, keyedJobs(t, keyed, pools)...), false
			continue
		}
		for _, s := range plain {
			jobs = append(jobs, job{t, s.line, func() (line, error) { return replayOne(t, s) }})
		}
	}
	if needless {
		return nil, errors.New("-growth and -budget are for keyed traces, and there is none")
	}
	return jobs, nil
}

// plainLines are what is compared if nothing else is asked for.
func plainLines() (lines []string) {
	for _, strategy := range slab.Strategies() {
		lines = append(lines, "device=virtual,strategy="+strategy)
	}
	return append(lines, "device=virtual,strategy=slab,cache_bytes=0")
}

// setupsOf reads the lines of -config, or others if there are none, and names
// everything that is wrong with any of them.
func setupsOf(lines, others []string) ([]setup, error) {
	if len(lines) == 0 {
		lines = others
	}
	var setups []setup
	var faults []error
	for _, line := range lines {
		c, err := slab.ParseConfig(line)
		if err == nil && c.Device == "" {
			c.Device = "virtual"
			err = c.Validate()
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("-config %q: %w", line, err))
		}
		setups = append(setups, setup{line, c})
	}
	return setups, errors.Join(faults...)
}

func load(paths []string) ([]*trace.Trace, error) {
	if len(paths) == 0 {
		t, err := shipped()
		return []*trace.Trace{t}, err
	}
	var traces []*trace.Trace
	for _, path := range paths {
		t, err := trace.Load(path)
		if err != nil {
			return nil, err
		}
		traces = append(traces, t)
	}
	return traces, nil
}

// runAll goes on after a failure, so that the other rows can be compared.
func runAll(jobs []job, out printer, stderr io.Writer) int {
	bar := newProgress(len(jobs), stderr)
	code := exitOK
	for _, j := range jobs {
		bar.begin(j.trace.Name, j.what)
		r, err := j.run()
		bar.end()
		if err == nil {
			out.print(r)
			err = r.leftBehind()
		}
		if err != nil {
			code = max(code, fail(stderr, codeOf(err), fmt.Errorf("%s with %s: %w", j.trace.Name, j.what, err)))
		}
	}
	if err := out.close(); err != nil {
		return fail(stderr, exitFailed, err)
	}
	return code
}

// A badSetup is a configuration that is wrong in a way that only opening it
// tells, like a device that is not there.
type badSetup struct{ error }

func replayOne(t *trace.Trace, s setup) (row, error) {
	p, err := slab.OpenConfig(s.config)
	if err != nil {
		return row{}, badSetup{err}
	}
	r, err := trace.Replay(t, p)
	return row{t.Name, s.line, r}, errors.Join(err, p.Close())
}

func codeOf(err error) int {
	if _, bad := err.(badSetup); bad {
		return exitBad
	}
	return exitFailed
}

// fail tells an error and returns code.
func fail(stderr io.Writer, code int, err error) int {
	fmt.Fprintln(stderr, "bufslab:", err)
	return code
}
