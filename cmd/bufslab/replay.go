package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/trace"
)

const replayHelp = `bufslab replay [-config LINE]... [-json] [TRACE...]

Runs every TRACE through a new pool for every LINE and prints what that took.

	TRACE         a CSV file op,id,size or a log of RMM, gzip or not; if there
	              is none, the recording of an Apache Arrow program that ships
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

func replay(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("bufslab replay", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "")
	var lines []string
	flags.Func("config", "", func(line string) error {
		lines = append(lines, line)
		return nil
	})
	if code, done := parse(flags, args, replayHelp, stdout, stderr); done {
		return code
	}
	// All input is read before anything runs: mistakes are told at once.
	setups, err := setupsOf(lines)
	if err != nil {
		return fail(stderr, exitBad, err)
	}
	traces, err := load(flags.Args())
	if err != nil {
		return fail(stderr, exitBad, err)
	}
	var out printer = newTable(stdout)
	if *asJSON {
		out = newJSON(stdout)
	}
	return replayAll(traces, setups, out, stderr)
}

// setupsOf reads the lines of -config, or takes every strategy, and names
// everything that is wrong with any of them.
func setupsOf(lines []string) ([]setup, error) {
	if len(lines) == 0 {
		for _, strategy := range slab.Strategies() {
			lines = append(lines, "device=virtual,strategy="+strategy)
		}
		lines = append(lines, "device=virtual,strategy=slab,cache_bytes=0")
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

// replayAll goes on after a failure, so that the other rows can be compared.
func replayAll(traces []*trace.Trace, setups []setup, out printer, stderr io.Writer) int {
	bar := newProgress(len(traces)*len(setups), stderr)
	code := exitOK
	for _, t := range traces {
		for _, s := range setups {
			bar.begin(t.Name, s.line)
			r, err := replayOne(t, s)
			bar.end()
			if err == nil {
				out.print(r)
				err = leftBehind(r)
			}
			if err != nil {
				code = max(code, fail(stderr, codeOf(err), fmt.Errorf("%s with %s: %w", t.Name, s.line, err)))
			}
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

func leftBehind(r row) error {
	if r.EndActiveBytes == 0 && r.EndHeldBytes == 0 && r.EndUpstreamBytes == 0 {
		return nil
	}
	return fmt.Errorf("%d bytes active, %d held and %d upstream after the pool stopped holding",
		r.EndActiveBytes, r.EndHeldBytes, r.EndUpstreamBytes)
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
