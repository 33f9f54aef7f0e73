// Command bench is the league of pools: ours beside those that Go programs use today, in
// one process, in turns. It prints the tables of docs/benchmarks.md.
//
//	go run .                        # everything, on a quiet machine: some ten minutes
//	go run . -rounds 10 -workloads 'W2|W3 1 MiB P1' -pools 'heap|mmap|sync'
//	go run . -conf device=heap,strategy=slab -conf device=mmap,strategy=sizeclass
//	go run . -write                 # and put the tables into docs/benchmarks.md
//
// Instructions are counted by valgrind's cachegrind, whatever else the machine does:
//
//	go run . -count                 # print them
//	go run . -count -write          # and keep them, in counts.json and docs/benchmarks.md
//	go run . -check                 # fail if a hit has more than 3 % over those kept
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/bufslab/bufslab/bench/internal/report"
)

// Files that have figures of ours, from this directory.
const (
	documentation = "../docs/benchmarks.md"
	kept          = "counts.json"
)

type options struct {
	rounds           int
	workloads, pools *regexp.Regexp
	conf             lines
	write            bool
	count, check     bool
	one              string // what a run under cachegrind does: "POOL/WORKLOAD"
	turns            int
}

// lines are configurations, one for each -conf.
type lines []string

func (l *lines) String() string { return strings.Join(*l, " ") }

func (l *lines) Set(line string) error { *l = append(*l, line); return nil }

func main() {
	var o options
	o.workloads, o.pools = new(regexp.Regexp), new(regexp.Regexp)
	flag.TextVar(o.workloads, "workloads", regexp.MustCompile(""), "time or count only those that the `regexp` matches, such as 'W1 4 KiB P2'")
	flag.TextVar(o.pools, "pools", regexp.MustCompile(""), "only the pools that the `regexp` matches")
	flag.IntVar(&o.rounds, "rounds", 60, "rounds of the league")
	flag.Var(&o.conf, "conf", "a further pool of ours, by its `line` of configuration; may be repeated")
	flag.BoolVar(&o.write, "write", false, "write the results where they are documented")
	flag.BoolVar(&o.count, "count", false, "count instructions under cachegrind")
	flag.BoolVar(&o.check, "check", false, "count those of our hits, and compare with counts.json")
	flag.StringVar(&o.one, "one", "", "what -count runs under cachegrind: `POOL/WORKLOAD`")
	flag.IntVar(&o.turns, "turns", 0, "turns of -one")
	flag.Parse()
	if err := o.run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (o options) run() error {
	if o.write && o.workloads.String()+o.pools.String() != "" {
		return errors.New("-write is for all workloads and pools")
	}
	switch {
	case o.one != "":
		return playOne(o.one, o.turns, append(everyone(o.conf), ours(uncached, "device=mmap,cache_bytes=0"), newHarness()))
	case o.check:
		return check()
	case o.count:
		return o.countAll()
	}
	return o.playLeague()
}

// everyone is in the league: our defaults, the others, and lines of configuration.
func everyone(conf []string) []contender {
	all := append([]contender{ours("heap", "device=heap"), ours("mmap", "device=mmap")}, others()...)
	for _, line := range conf {
		all = append(all, ours(line, line))
	}
	return all
}

// contenders are those that were asked for.
func (o options) contenders() []contender {
	return slices.DeleteFunc(everyone(o.conf), func(c contender) bool { return !o.pools.MatchString(c.name) })
}

// playLeague times the workloads that were asked for, and prints or writes the tables.
func (o options) playLeague() error {
	t := table{contenders: o.contenders(), rounds: o.rounds, load: report.Load()}
	if len(t.contenders) == 0 || o.rounds < 1 {
		return errors.New("no pools or no rounds")
	}
	for _, c := range t.contenders {
		if err := c.prove(); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	for _, w := range league() {
		if w.procs > runtime.NumCPU() || !o.workloads.MatchString(w.name()) {
			continue
		}
		fmt.Fprintln(os.Stderr, w.name())
		t.results = append(t.results, compete(w, t.contenders, o.rounds, warmUp))
	}
	fmt.Print(t)
	if !o.write {
		return nil
	}
	return report.Replace(documentation, "league", t.String())
}
