package main

import (
	"errors"
	"flag"
	"io"
	"os"
	"slices"

	"github.com/schollz/progressbar/v3"

	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/trace"
)

const replayHelp = `bufslab replay [-config LINE]... [-procs N] [-json] [TRACE...]
bufslab replay -config LINE [-procs N] [-json] -
bufslab replay [-config LINE]... [-growth POLICY]... [-budget SIZE] [-json] KEYED_TRACE...

Runs every TRACE through a new pool for every LINE and prints what that took. All figures
but ns/op are the same each time, whatever else the machine does; those with -budget are not,
as what is evicted is sampled at random.

	bufslab replay                                        the recording that ships with it
	bufslab replay -config strategy=slab program.csv.gz
	bufslab replay -config strategy=slab -config strategy=slab,cache_bytes=0 -json a.csv b.csv
	zcat program.csv.gz | bufslab replay -config strategy=bestfit -
	bufslab replay -growth pow2 -growth exact -budget 4GiB keyed.csv

	TRACE         a CSV file op,id,size[,key,stream,thread,time_ns], gzip or not, or a
	              keyed one, op,key,size; if there is none, the recording of an Apache
	              Arrow program that ships with the command; - is the standard input,
	              replayed on one LINE as it comes, however long it is
	-config LINE  a configuration as slab.ParseConfig takes it, for instance
	              strategy=slab,cache_bytes=0,max_bytes=4GiB; once for each
	              pool. If there is none, all strategies and one more with its
	              caches off. A line without device= runs on device=virtual,
	              which has addresses and no memory behind them
	-procs N      processors that the pool has, on which the threads of TRACE run in
	              turns; if it is left out, as many as TRACE has threads, at most 64, or 1 for -.
	              In a recording of a pool a thread is a processor that its calls ran on
	-json         one JSON object a line instead of a table

	peak live     the most bytes that the program had at a time
	peak managed  the most bytes that the pool had from its device
	footprint     peak managed by peak live; 1 is the floor
	upstream      calls to the device for memory
	miss %        upstream calls by allocations
	leaked        what TRACE allocates and never frees
	ns/op         time of an allocation or a free

A pool's clock (trim_after, idle) is that of TRACE, or a microsecond an event where it has
no time_ns.

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

It exits with 1 if a replay fails, or leaves memory behind that TRACE has not leaked, with 2
if LINE or an option is wrong, with 3 if TRACE is.
`

func replay(args []string, stdout, stderr io.Writer) int {
	var o options
	flags := o.define()
	paths, code, done := parseFiles(flags, args, replayHelp, stdout, stderr)
	if done {
		return code
	}
	var out printer = newTables(stdout)
	if o.json {
		out = newJSON(stdout)
	}
	plain, keyed, err := o.check(paths)
	if err != nil {
		return fail(stderr, exitBad, err)
	}
	if slices.Contains(paths, "-") {
		return replayStdin(plain[0], trace.Replayer{Processors: o.processors}, out, stderr)
	}
	traces, err := load(paths, stderr)
	if err != nil {
		return fail(stderr, exitInput, err)
	}
	jobs, err := o.jobs(traces, plain, keyed)
	if err != nil {
		return fail(stderr, exitBad, err)
	}
	return runAll(jobs, out, stderr)
}

// options are those of a replay, as they were written.
type options struct {
	lines      []string
	processors int
	json       bool
	keyed      keyedFlags
}

func (o *options) define() *flag.FlagSet {
	flags := flag.NewFlagSet("bufslab replay", flag.ContinueOnError)
	flags.BoolVar(&o.json, "json", false, "")
	processorsVar(flags, &o.processors)
	flags.Func("config", "", func(line string) error {
		o.lines = append(o.lines, line)
		return nil
	})
	o.keyed.define(flags)
	return flags
}

// check returns what to replay on: the setups for traces of allocations and of keys. It
// names everything that is wrong before any file is read.
func (o *options) check(paths []string) (plain, keyed []setup, err error) {
	plain, err = setupsOf(o.lines, plainLines())
	keyed, _ = setupsOf(o.lines, []string{"device=virtual,strategy=direct"}) // the same lines have the same faults
	faults := []error{err, overwritten(plain, paths)}
	if slices.Contains(paths, "-") && (len(paths) > 1 || len(o.lines) != 1 || o.keyed.given) {
		faults = append(faults, errors.New("- is replayed as it comes: it wants one -config, and no other TRACE and keyed option beside it"))
	}
	_, err = o.keyed.pools()
	return plain, keyed, errors.Join(append(faults, err)...)
}

// jobs plans every trace on every setup.
func (o *options) jobs(traces []*trace.Trace, plain, keyed []setup) (jobs []job, err error) {
	pools, _ := o.keyed.pools()
	allocations, requests := false, false
	for i, label := range labels(traces) {
		t := traces[i]
		if t.Keyed() {
			requests = true
			jobs = append(jobs, keyedJobs(t, label, keyed, pools)...)
			continue
		}
		allocations = true
		for _, s := range plain {
			jobs = append(jobs, job{label, s.line, t.Events(), func(progress func(int)) (line, error) {
				return replayOne(t, label, s, trace.Replayer{Processors: o.processors, Progress: progress})
			}})
		}
	}
	if o.keyed.given && !requests {
		return nil, errors.New("-growth and -budget are for keyed traces, and there is none")
	}
	if o.processors > 0 && !allocations {
		return nil, errors.New("-procs is for traces of allocations, and there is none")
	}
	return jobs, nil
}

// stdin is read by bufslab replay -.
var stdin io.Reader = os.Stdin

// replayStdin replays the standard input as it comes, and keeps nothing of it.
func replayStdin(s setup, o trace.Replayer, out printer, stderr io.Writer) int {
	total := int64(0)
	if f, ok := stdin.(*os.File); ok {
		total = sizeOf(f)
	}
	bar := newProgress(total, s.line, stderr, progressbar.OptionShowBytes(true), progressbar.OptionShowCount())
	r, warnings, err := streamOne(&counted{from: stdin, bar: bar}, s, o)
	bar.clear()
	warn(warnings, stderr)
	code := exitOK
	if err == nil {
		out.print(r)
		err = r.fault()
	}
	if err != nil {
		code = fail(stderr, codeOf(err), err)
	}
	if err := out.close(); err != nil {
		return fail(stderr, exitFailed, err)
	}
	return code
}

func streamOne(from io.Reader, s setup, o trace.Replayer) (row, []string, error) {
	var warnings []string
	r, err := onPool(s.config, func(p *slab.Pool) (trace.Result, error) {
		rows := trace.NewReader(from, "stdin")
		defer func() { warnings = rows.Warnings() }()
		r, err := o.Stream(rows, p)
		if err == nil && r.Allocs == 0 {
			err = badInput{noEvents("stdin")}
		}
		if errors.Is(err, trace.ErrKeyed) {
			err = badInput{err}
		}
		return r, err
	})
	return newRow("stdin", s.line, r), warnings, err
}
