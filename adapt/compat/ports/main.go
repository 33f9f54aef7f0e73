//go:build unix

// Command ports runs the suites of programs that have pools of their own, with our pools in the place of theirs. A
// suite is that of a module of theirs at a fixed version, from the module proxy. One or two of its files are overlaid,
// by go test's -overlay, with a file of ours; nothing of theirs is in this repository.
//
//	go run ./ports [-short | -all] [-rounds N] [-run TESTS] [-write] [REGEXP]
//
// Theirs and ours run in turns, each test binary in a process of its own, in a copy of their module. The command prints
// time, processor time and peak resident memory of theirs, and ours divided by them: medians of the rounds. It
// fails if ours fails a test that theirs passes. A test that both fail is counted, and no fault.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
)

var (
	all    = flag.Bool("all", false, "the suites that take minutes, too")
	short  = flag.Bool("short", false, "only the suites that take seconds, once: for .ci/run")
	rounds = flag.Int("rounds", 3, "how often theirs and ours take turns")
	write  = flag.Bool("write", false, "put the table into docs/benchmarks.md")
	tests  = flag.String("run", "", "only tests that match, as -test.run has it")
	keep   = flag.String("keep", "", "directory that is there, for what the tests print; it is kept")
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == measuring {
		measure(os.Args[2], os.Args[3:])
	}
	flag.Parse()
	worse, err := run(regexp.MustCompile(flag.Arg(0)))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || worse {
		os.Exit(1)
	}
}

// run runs the suites that match.
func run(match *regexp.Regexp) (worse bool, err error) {
	if *short {
		*rounds = 1
	}
	var rows []row
	for _, p := range ports {
		if p.choose(match); len(p.suites) == 0 {
			continue
		}
		got, err := p.run()
		if err != nil {
			return worse, fmt.Errorf("%s: %w", p.name, err)
		}
		rows = append(rows, got...)
	}
	text := fmt.Sprintf("Medians of %d rounds on %d processors%s, %s, %s.\n\n%s",
		*rounds, runtime.NumCPU(), load(), runtime.Version(), runtime.GOOS, table(rows))
	fmt.Print(text)
	for _, r := range rows {
		worse = worse || len(r.worse) > 0
	}
	if *write {
		err = intoPage("../../docs/benchmarks.md", text)
	}
	return worse, err
}

// choose leaves the suites that the flags ask for, of which port and title match.
func (p *port) choose(match *regexp.Regexp) {
	var chosen []suite
	for _, s := range p.suites {
		if s.title == "" {
			s.title = s.pkg
		}
		wanted := s.size == quick || s.size == usual && !*short || s.size == long && *all
		if wanted && match.MatchString(p.name+" "+s.title) {
			chosen = append(chosen, s)
		}
	}
	p.suites = chosen
}

// load says how many wanted a processor in the last minute, on Linux. Where others did, times are hints.
func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	if of := strings.Fields(string(text)); len(of) > 0 {
		return " with a load average of " + of[0]
	}
	return ""
}
