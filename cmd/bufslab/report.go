package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/dustin/go-humanize/english"

	"github.com/bufslab/bufslab/cmd/bufslab/internal/report"
	"github.com/bufslab/bufslab/internal/wholefile"
	"github.com/bufslab/bufslab/trace"
)

const reportHelp = `bufslab report [-config LINE]... -o PAGE [TRACE...]

Runs every TRACE through a new pool for every LINE, as bufslab replay does, and writes one page
of HTML with what that took: a table, bytes over time, the sizes, and what lay where at the peak.
It needs no network. The same traces and lines give the same page.

	bufslab report -o page.html program.csv.gz
	bufslab report -config strategy=slab -config strategy=slab,miss_target=2% -o page.html program.csv.gz

	TRACE         a file, as bufslab replay takes it, of allocations; if there is none, the recording that
	              ships with the command
	-config LINE  a configuration, once for each pool. If there is none: slab, slab without
	              caches, bestfit and sizeclass. A line without device= runs on device=virtual.
	              It writes no file: leave record and reserve=learned:FILE out
	-o PAGE       the file to write, no recording

It exits with 1 if a replay or writing PAGE fails, with 2 if LINE or an option is wrong, with 3
if TRACE is.
`

// reportLines are what is compared if nothing else is asked for.
var reportLines = []string{"strategy=slab", "strategy=slab,cache_bytes=0", "strategy=bestfit", "strategy=sizeclass"}

// reportPage is the command report.
func reportPage(args []string, stdout, stderr io.Writer) int {
	var lines []string
	flags := flag.NewFlagSet("bufslab report", flag.ContinueOnError)
	out := flags.String("o", "", "")
	flags.Func("config", "", func(line string) error {
		lines = append(lines, line)
		return nil
	})
	paths, code, done := parseFiles(flags, args, reportHelp, stdout, stderr)
	if done {
		return code
	}
	setups, err := reportSetups(lines, *out, paths)
	if err != nil {
		return fail(stderr, exitBad, err)
	}
	traces, err := load(paths, stderr)
	if err == nil {
		err = allocations("report", traces)
	}
	if err != nil {
		return fail(stderr, exitInput, err)
	}
	r := newReporter(traces, setups, stderr)
	r.ofFiles = len(paths) > 0
	page, err := r.run()
	if err == nil {
		err = writePage(page, *out)
	}
	if err != nil {
		return fail(stderr, codeOf(err), err)
	}
	return tell(stdout, stderr, fmt.Sprintf("%s: %s with %s\n", *out,
		english.Plural(len(page.Traces), "trace", ""), english.Plural(len(page.Configs), "configuration", "")))
}

// reportSetups returns what the lines say. A page has to be named, and to be no recording; no line may write a file.
func reportSetups(lines []string, page string, traces []string) ([]setup, error) {
	setups, err := setupsOf(lines, reportLines)
	for _, s := range setups {
		err = errors.Join(err, writes(s.config))
	}
	if page == "" {
		err = errors.Join(err, errors.New("report wants -o PAGE"))
	}
	return setups, errors.Join(err, lost(page, traces))
}

// lost says which recording the page would be written over.
func lost(page string, traces []string) error {
	for _, path := range traces {
		if isTrace(page, path) {
			return fmt.Errorf("-o %s would be written over the TRACE %s", page, path)
		}
	}
	if isRecording(page) {
		return fmt.Errorf("-o %s would be written over a recording", page)
	}
	return nil
}

// isRecording reports whether a file begins as a recording does: where the name of the page was left out, -o has that
// of a TRACE.
func isRecording(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = trace.NewReader(f, path).Next()
	return err == nil || err == io.EOF
}

// writePage writes a file. If it fails, one that was there is as before.
func writePage(page *report.Page, path string) error {
	return wholefile.Replace(path, func(part string) error {
		f, err := wholefile.Create(part)
		if err != nil {
			return err
		}
		return errors.Join(page.Write(f), f.Close())
	})
}
