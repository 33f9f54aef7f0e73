// Command programs judges memory by whole programs: each runs in a process of its own, with a
// heap and garbage besides, on what Go programs use today and on our pools. It prints the
// tables of docs/benchmarks.md. From the directory above:
//
//	go run ./programs                 # everything, on a quiet machine: some eight minutes
//	go run ./programs -rounds 3 -programs 'json|grpc' -kinds 'pool|mmap'
//	go run ./programs -conf device=heap,strategy=slab
//	go run ./programs -write          # and put the tables into docs/benchmarks.md and README.md
//	go run ./programs -settle 1m      # and what is resident after each, at once and a minute later
//	go run ./programs -promise        # does a process manage more than a replay of its recording says?
//	go run ./programs -smoke          # does every program work, and give back what it got?
//
// It fails if a program does not do its work or leaks, never by the time that one takes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"
)

type options struct {
	rounds          int
	programs, kinds *regexp.Regexp
	conf            lines
	write, smoke    bool
	promise         bool
	part            int     // of the operations, that -promise does one of
	most            float64 // that -promise lets a process manage, by what is promised
	settle          time.Duration
	child           task // what a process of its own does, if it has a program
}

// lines are configurations, one for each -conf.
type lines []string

func (l *lines) String() string { return strings.Join(*l, " ") }

func (l *lines) Set(line string) error { *l = append(*l, line); return nil }

func main() { os.Exit(command(os.Args[1:], os.Stdout, os.Stderr)) }

// command returns the exit status.
func command(args []string, out, complaints io.Writer) int {
	o, err := parse(args, complaints)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err == nil {
		err = o.run(out, complaints)
	}
	if err != nil {
		fmt.Fprintln(complaints, "programs:", err)
		return 1
	}
	return 0
}

func parse(args []string, complaints io.Writer) (o options, err error) {
	f := flag.NewFlagSet("programs", flag.ContinueOnError)
	f.SetOutput(complaints)
	o.programs, o.kinds = new(regexp.Regexp), new(regexp.Regexp)
	f.TextVar(o.programs, "programs", regexp.MustCompile(""), "run only those that the `regexp` matches")
	f.TextVar(o.kinds, "kinds", regexp.MustCompile(""), "only the kinds of memory that the `regexp` matches")
	f.IntVar(&o.rounds, "rounds", 5, "processes of each program and kind of memory")
	f.Var(&o.conf, "conf", "a further pool of ours, by its `line` of configuration; may be repeated")
	f.BoolVar(&o.write, "write", false, "write the results where they are documented")
	f.BoolVar(&o.smoke, "smoke", false, "run each program once, and shortly")
	f.BoolVar(&o.promise, "promise", false, "hold each program against what a replay of its recording promises")
	f.IntVar(&o.part, "part", 10, "-promise does an Nth of the operations")
	f.Float64Var(&o.most, "most", 1.10, "what -promise lets a process manage, by what is promised")
	f.DurationVar(&o.settle, "settle", 0, "show what is resident after each program, and this long after its pool is trimmed (Linux)")
	f.StringVar(&o.child.Program, "child", "", "run this `program` here, and print what it took as JSON")
	f.StringVar(&o.child.Kind, "kind", "", "memory of -child")
	f.IntVar(&o.child.Ops, "ops", 0, "operations of -child")
	err = f.Parse(args)
	o.child.Settle = o.settle
	return o, err
}

func (o options) run(out, progress io.Writer) error {
	switch {
	case o.child.Program != "":
		return o.child.print(out)
	case o.rounds < 1:
		return errors.New("no rounds")
	case o.write && (o.smoke || len(o.conf) > 0 || o.programs.String()+o.kinds.String() != ""):
		return errors.New("-write is for all programs and kinds, our defaults, at length")
	case o.part < 1:
		return errors.New("-part is 1 or more")
	case o.promise:
		return o.promises(out)
	case o.smoke:
		return o.smokeAll(out)
	}
	t, err := o.compare(progress)
	if err != nil {
		return err
	}
	fmt.Fprint(out, t)
	if o.write {
		return t.write()
	}
	return nil
}
