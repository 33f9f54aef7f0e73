package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/trace"
)

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

// tuneOptions are those of tune, as they were written.
type tuneOptions struct {
	objective
	base  string
	limit time.Duration
	json  bool

	file       string // the first TRACE
	assumed    string // why the lines are judged on device=virtual, "" if they name a device
	processors int    // 0: of each TRACE, its threads
}

func tune(args []string, stdout, stderr io.Writer) int {
	o := tuneOptions{objective: objective{misses: missBudget, ns: 50}}
	flags := o.define()
	if code, done := parse(flags, args, tuneHelp, stdout, stderr); done {
		return code
	}
	if err := o.check(flags.NArg()); err != nil {
		return fail(stderr, exitBad, err)
	}
	traces, err := load(flags.Args(), stderr)
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
	o.file = flags.Arg(0)
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

func (o *tuneOptions) define() *flag.FlagSet {
	flags := flag.NewFlagSet("bufslab tune", flag.ContinueOnError)
	flags.StringVar(&o.base, "config", "", "")
	flags.Func("budget", "", func(text string) (err error) {
		o.misses, err = parseShare(text)
		return err
	})
	flags.Float64Var(&o.ns, "ns", o.ns, "")
	flags.DurationVar(&o.limit, "limit", 0, "")
	flags.BoolVar(&o.json, "json", false, "")
	processorsVar(flags, &o.processors)
	return flags
}

// parseShare reads 1% or 0.01.
func parseShare(text string) (float64, error) {
	digits, percent := strings.CutSuffix(text, "%")
	share, err := strconv.ParseFloat(digits, 64)
	if percent {
		share /= 100
	}
	if err != nil || !(share > 0 && share <= 1) {
		return 0, errors.New("want a share above 0, at most 1, like 1% or 0.01")
	}
	return share, nil
}

// takeLine makes a line of a configuration that is JSON: to that tune can add options.
func (o *tuneOptions) takeLine() error {
	c, err := configOf(o.base)
	err = errors.Join(err, writes(c))
	if err != nil || !strings.HasPrefix(strings.TrimSpace(o.base), "{") {
		return err
	}
	names := onVirtual(o.base) == strings.TrimSpace(o.base)
	if o.base = c.String(); !names {
		o.base = strings.TrimPrefix(strings.TrimPrefix(o.base, "device="+virtual), ",")
	}
	if strings.HasPrefix(o.base, "{") {
		return fmt.Errorf("-config %s: no line says this, and tune adds options to a line", o.base)
	}
	return nil
}

// writes refuses, for tune and report, what would have each of the many replays write a file, perhaps
// TRACE itself. A reserve that is learned would be another one each time, too.
func writes(c slab.Config) error {
	switch {
	case c.Record != "":
		return fmt.Errorf("-config record=%s: each replay would write it; leave it out", c.Record)
	case strings.HasPrefix(c.Reserve, "learned:"):
		return fmt.Errorf("-config reserve=%s: each replay would write it; leave it out", c.Reserve)
	}
	return nil
}

// leastNS is the least price of time: costs are numbers still.
const leastNS = 1e-9

func (o *tuneOptions) check(traces int) error {
	faults := []error{o.takeLine()}
	if !(o.ns >= leastNS) {
		faults = append(faults, fmt.Errorf("-ns %g: want a number of %g at least", o.ns, leastNS))
	}
	if o.limit < 0 {
		faults = append(faults, fmt.Errorf("-limit %v: want a time", o.limit))
	}
	if traces == 0 {
		faults = append(faults, errors.New("tune wants a TRACE"))
	}
	return errors.Join(faults...)
}

// configOf reads a line, whose device is virtual unless it names another.
func configOf(line string) (slab.Config, error) {
	setups, err := setupsOf([]string{line}, nil)
	return setups[0].config, err
}

// allocations fails unless all traces are of allocations.
func allocations(command string, traces []*trace.Trace) error {
	for _, t := range traces {
		if t.Keyed() {
			return fmt.Errorf("%s: %s is for allocations: %w", t.Name, command, trace.ErrKeyed)
		}
	}
	return nil
}
