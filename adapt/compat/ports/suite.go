//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A result is what a run of a suite took, and what became of its tests.
type result struct {
	usage
	tests       map[string]string // PASS, FAIL or SKIP by name
	collections int
	print       string // the file of what it has printed
}

// A row is a suite with theirs and one of ours.
type row struct {
	port, suite, side string
	theirs, ours      []result
	worse             []string // tests that ours fails and theirs passes
}

// run builds a port and has theirs and each side of ours take turns.
func (p *port) run() (rows []row, err error) {
	b, err := p.build()
	defer b.close()
	if err != nil {
		return nil, err
	}
	if len(b.sides) == 0 {
		b.sides = []side{{}}
	}
	for _, s := range b.suites {
		got, err := b.turns(s)
		if err != nil {
			return rows, err
		}
		rows = append(rows, got...)
	}
	return rows, nil
}

func (b *build) turns(s suite) (rows []row, err error) {
	theirs, err := b.compile(s, false)
	if err != nil {
		return nil, err
	}
	ours, err := b.compile(s, true)
	if err != nil {
		return nil, err
	}
	base := make([]result, *rounds)
	for _, side := range b.sides {
		ours := make([]result, *rounds)
		rows = append(rows, row{port: b.name, suite: s.title, side: side.name, theirs: base, ours: ours})
	}
	for i := range *rounds {
		if base[i], err = b.once(s, fmt.Sprint("theirs", i), theirs, nil); err != nil {
			return nil, err
		}
		for j, side := range b.sides {
			if rows[j].ours[i], err = b.once(s, fmt.Sprint("ours", j, "-", i), ours, side.env); err != nil {
				return nil, err
			}
		}
	}
	for i := range rows {
		rows[i].compare()
		rows[i].report()
	}
	return rows, nil
}

// once runs the program of a suite.
func (b *build) once(s suite, name, program string, env []string) (r result, err error) {
	at := *keep
	if at == "" {
		at = b.dir
	}
	r.print = filepath.Join(at, strings.NewReplacer("/", "-", " ", "-").Replace(b.name+" "+s.title+" "+name)+".txt")
	args := append([]string{"-test.v=test2json", "-test.count=1", "-test.timeout=15m"}, s.args...)
	if b.skip != "" {
		args = append(args, "-test.skip="+b.skip)
	}
	if *tests != "" {
		args = append(args, "-test.run="+*tests)
	}
	env = b.environ(append(env, "GODEBUG=gctrace=1")...)
	if r.usage, err = measured(filepath.Join(b.theirs, s.pkg), env, r.print, program, args...); err != nil {
		return r, err
	}
	text, err := os.ReadFile(r.print)
	r.read(string(text))
	return r, err
}

// testing marks each verdict with this character if it prints for test2json. A benchmark has none.
var (
	verdict    = regexp.MustCompile("\x16--- (PASS|FAIL|SKIP): (\\S+)")
	benchmark  = regexp.MustCompile(`(?m)^(Benchmark\S+)\s+\d+\s.*/op`)
	collection = regexp.MustCompile(`(?m)^gc (\d+) @`)
)

func (r *result) read(text string) {
	r.tests = map[string]string{}
	for _, m := range verdict.FindAllStringSubmatch(text, -1) {
		r.tests[m[2]] = m[1]
	}
	for _, m := range benchmark.FindAllStringSubmatch(text, -1) {
		r.tests[strings.ReplaceAll(m[1], "/", " ")] = "PASS"
	}
	for _, m := range collection.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[1])
		r.collections = max(r.collections, n)
	}
	if r.Failed && r.count("FAIL") == 0 {
		r.tests[process] = "FAIL"
	}
}

// count counts tests without their parts.
func (r result) count(verdict string) (n int) {
	for name, is := range r.tests {
		if is == verdict && !strings.Contains(name, "/") {
			n++
		}
	}
	return n
}

const process = "the process" // the name of what fails where a process fails and none of its tests

// compare finds the tests that fail with ours and never with theirs. Where a process ends early, its other tests are
// missing: nothing can be compared with that.
func (r *row) compare() {
	failed := func(of []result, name string) bool {
		return slices.ContainsFunc(of, func(r result) bool { return r.tests[name] == "FAIL" })
	}
	if failed(r.theirs, process) {
		r.worse = append(r.worse, "theirs ends early")
	}
	for _, one := range r.ours {
		for name := range one.tests {
			if failed(r.ours, name) && !failed(r.theirs, name) && !slices.Contains(r.worse, name) {
				r.worse = append(r.worse, name)
			}
		}
		if !one.Failed && one.count("PASS") == 0 {
			r.worse = append(r.worse, "no test passes")
		}
	}
	slices.Sort(r.worse)
}

// report names what theirs passes and ours fails, and prints the end of the first output in which it does.
func (r *row) report() {
	for _, name := range r.worse {
		fmt.Fprintf(os.Stderr, "%s %s %s: %s\n", r.port, r.suite, r.side, name)
	}
	for _, one := range r.ours {
		if len(r.worse) > 0 && one.Failed {
			text, _ := os.ReadFile(one.print)
			lines := strings.Split(collection.ReplaceAllString(string(text), "gc "), "\n")
			lines = slices.DeleteFunc(lines, func(l string) bool {
				return strings.HasPrefix(l, "gc ") || strings.HasPrefix(l, "\x16=== ")
			})
			fmt.Fprintln(os.Stderr, strings.Join(lines[max(0, len(lines)-80):], "\n"))
			return
		}
	}
}
