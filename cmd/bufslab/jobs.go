package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/trace"
)

// A setup is a configuration as it was written and as it was read.
type setup struct {
	line   string
	config slab.Config
}

// A job is one replay. It tells progress how many events are done.
type job struct {
	label  string // of the trace
	what   string // it runs on
	events int
	run    func(progress func(events int)) (line, error)
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
		c, err := slab.ParseConfig(onVirtual(line))
		if err != nil {
			faults = append(faults, fmt.Errorf("-config %q: %w", line, err))
		}
		setups = append(setups, setup{line, c})
	}
	return setups, errors.Join(faults...)
}

// overwritten names the lines that would record over a TRACE, before anything is opened.
func overwritten(setups []setup, paths []string) error {
	var faults []error
	for _, s := range setups {
		for _, path := range paths {
			if isTrace(s.config.Record, path) {
				faults = append(faults, fmt.Errorf("-config %q would record over the TRACE %s", s.line, path))
			}
		}
	}
	return errors.Join(faults...)
}

// isTrace reports whether a file is there that is TRACE, or the standard input if that is -.
func isTrace(file, path string) bool {
	f, err := os.Stat(file)
	if err != nil {
		return false
	}
	t, err := os.Stdin.Stat()
	if path != "-" {
		t, err = os.Stat(path)
	}
	return err == nil && os.SameFile(f, t)
}

// onVirtual returns a line or JSON with a device: what the other keys may be depends on it.
func onVirtual(line string) string {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "{") {
		return jsonOnVirtual(line)
	}
	for part := range strings.SplitSeq(line, ",") {
		if key, _, _ := strings.Cut(part, "="); strings.TrimSpace(key) == "device" {
			return line
		}
	}
	return strings.TrimSuffix("device=virtual,"+line, ",")
}

// jsonOnVirtual is onVirtual of JSON. Of what is none ParseConfig says what is wrong.
func jsonOnVirtual(text string) string {
	var keys map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &keys) != nil {
		return text
	}
	for key := range keys {
		if strings.EqualFold(key, "device") {
			return text
		}
	}
	keys["device"] = json.RawMessage(`"virtual"`)
	with, err := json.Marshal(keys)
	if err != nil {
		return text
	}
	return string(with)
}

// runAll goes on after a failure, so that the other rows can be compared.
func runAll(jobs []job, out printer, stderr io.Writer) int {
	total := 0
	for _, j := range jobs {
		total += j.events
	}
	bar := newProgress(int64(total), "", stderr)
	code, before := exitOK, 0
	for _, j := range jobs {
		bar.describe(j.label + " " + j.what)
		r, err := j.run(func(events int) { bar.set(int64(before + events)) })
		before += j.events
		bar.set(int64(before))
		bar.clear()
		if err == nil {
			out.print(r)
			err = r.fault()
		}
		if err != nil {
			code = max(code, fail(stderr, codeOf(err), fmt.Errorf("%s with %s: %w", j.label, j.what, err)))
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

func replayOne(t *trace.Trace, label string, s setup, o trace.Replayer) (row, error) {
	p, err := slab.OpenConfig(s.config)
	if err != nil {
		return row{}, badSetup{err}
	}
	r, err := o.Run(t, p)
	return newRow(label, s.line, r), errors.Join(err, p.Close())
}

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
