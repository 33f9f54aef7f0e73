package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bufslab/bufslab/bench/internal/report"
)

// base is the kind of memory that all others are compared with: what a good programmer has
// today.
const base = "pool"

// asked are the programs and the kinds of memory that are to run.
func (o options) asked() (some []program, kinds []string, err error) {
	for _, p := range programs {
		if o.programs.MatchString(p.name) {
			some = append(some, p)
		}
	}
	all := append([]string{"go", base, "heap", "mmap"}, o.conf...)
	kinds = slices.DeleteFunc(all, func(k string) bool { return !o.kinds.MatchString(k) })
	if len(some) == 0 || len(kinds) == 0 {
		return nil, nil, errors.New("no such programs or kinds of memory")
	}
	return some, kinds, nil
}

// compare runs what was asked for. The kinds of a program alternate, and another begins each
// round, so that what else the machine does meets all of them.
func (o options) compare(progress io.Writer) (t table, err error) {
	some, kinds, err := o.asked()
	if err != nil {
		return t, err
	}
	t = table{kinds: kinds, rounds: o.rounds, settles: o.settle > 0, load: report.Load()}
	for _, p := range some {
		fmt.Fprintln(progress, p.name)
		r := result{p, make([][]figures, len(kinds))}
		for round := range o.rounds {
			for i := range kinds {
				at := (round + i) % len(kinds)
				f, err := task{p.name, kinds[at], p.ops, o.settle}.spawn()
				if err != nil {
					return t, err
				}
				r.of[at] = append(r.of[at], f)
			}
		}
		t.results = append(t.results, r)
	}
	return t, nil
}

// smokeAll says of every program whether it works on every kind that has something to give
// back, and on what those are compared with.
func (o options) smokeAll(out io.Writer) error {
	some, kinds, err := o.asked()
	if err != nil {
		return err
	}
	kinds = slices.DeleteFunc(kinds, func(k string) bool { return k == "go" })
	var failed []error
	for _, p := range some {
		for _, k := range kinds {
			_, err := task{p.name, k, p.few, o.settle}.spawn()
			failed = append(failed, err)
		}
		fmt.Fprintln(out, p.name, "ran on", strings.Join(kinds, ", "))
	}
	return errors.Join(failed...)
}

// A task is one run of a program.
type task struct {
	Program, Kind string
	Ops           int
	Settle        time.Duration
}

// spawn does it in a process of its own, which is this program again.
func (t task) spawn() (f figures, err error) {
	self, err := os.Executable()
	if err != nil {
		return f, err
	}
	var complaints bytes.Buffer
	run := exec.Command(self, "-child", t.Program, "-kind", t.Kind, "-ops", strconv.Itoa(t.Ops), "-settle", t.Settle.String())
	run.Stderr = &complaints
	text, err := run.Output()
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		return f, fmt.Errorf("%s on %s: %w\n%s", t.Program, t.Kind, err, complaints.Bytes())
	}
	return f, nil
}
