package main

import "io"

const tuneHelp = `bufslab tune [-config LINE] [-budget SHARE] [-ns N] [-procs N] [-limit TIME] [-json] TRACE...

Searches for the configuration that suits the program of TRACE. It replays the first half
of each TRACE on one line after another, changes an option at a time, and prints the lines
that no other one beats in both memory and time, with their figures on the second half,
which the search did not see. It ends with one line to paste, and with how to check the promise in the next run.

	bufslab tune program.csv.gz
	bufslab tune -budget 0.1% -ns 10 monday.csv.gz tuesday.csv.gz
	bufslab tune -config max_bytes=4GiB -limit 5m program.csv.gz

	TRACE          a file, as bufslab replay takes it, of allocations; several are tuned for together
	-config LINE   options that every line has. If it names no device, that of TRACE is added. A TRACE that
	               names none, or one that is not here, is judged on device=virtual, which has addresses
	               and no memory behind them, and tune says so. LINE writes no file: leave record and
	               reserve=learned:FILE out. What the pool of TRACE promised (align, zero, page-locked
	               memory) is added to it
	-budget SHARE  the share of allocations that may go to the device, 1% if it is left out.
	               Lines are chosen that take at most 0.8 of it, or 8 calls
	-ns N          the nanoseconds of a pair that a hundredth of the peak memory is worth; 50
	               if it is left out. The fewer, the more time counts
	-procs N       processors to judge by; as many as TRACE has threads if it is left out
	-limit TIME    the search begins no replay after so long
	-json          one JSON object a line that was tried, and the chosen one last

	footprint      peak managed by peak live, a geometric mean; 1 is the floor
	books          what the pool keeps on the Go heap for its records, by peak live
	miss %         calls to the device by allocations, of the worst TRACE
	pair ns        an allocation and its free, estimated from what the replay counts: 20 ns
	               from a processor's cache, 100 more from the strategy, 3,000 more from
	               the device
	cost           (footprint + books) x (1 + pair ns / N / 100)
	unseen         the same of the second half

Without -limit the same TRACE gives the same line each time. The defaults are kept unless a
line costs 2 % less, and no more on the half that the search did not see; of the best lines the one is chosen that
costs least on both. A reserve is tried where both halves have the same peak, to 5 %. A line for which there is no
room is left out. It exits with 1 if a replay fails, with 2 if an option is wrong, with 3 if TRACE is.
`

func tune(args []string, stdout, stderr io.Writer) int {
	o := tuneOptions{objective: objective{misses: missBudget, ns: 50}}
	flags := o.define()
	paths, code, done := parseFiles(flags, args, tuneHelp, stdout, stderr)
	if done {
		return code
	}
	if err := o.check(len(paths)); err != nil {
		return fail(stderr, exitBad, err)
	}
	traces, err := load(paths, stderr)
	if err == nil {
		err = allocations("tune", traces)
	}
	if err != nil {
		return fail(stderr, exitInput, err)
	}
	if o.base, o.assumed, err = judgedOn(o.base, traces); err == nil {
		o.base, err = keepPromises(o.base, traces)
	}
	if err != nil {
		return fail(stderr, exitBad, err)
	}
	if o.json && o.assumed != "" { // no line of JSON says so
		warn([]string{o.assumed}, stderr)
	}
	o.file = paths[0]
	t := newTuner(o, traces, stderr)
	found, err := t.run()
	if err != nil {
		return fail(stderr, codeOf(err), err)
	}
	if err := found.print(stdout, o); err != nil {
		return fail(stderr, exitFailed, err)
	}
	return exitOK
}
