// Command bench counts the instructions of what a Get and a Release do, by valgrind's cachegrind,
// whatever else the machine does:
//
//	go run . -count                 # print them
//	go run . -count -workloads W1
//	go run . -count -write          # and keep them, in counts.json and docs/benchmarks.md
//	go run . -check                 # fail if a hit has more than 3 % over those kept
//
// What pools do to whole programs, package programs below measures.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
)

// Files that have figures of ours, from this directory.
const (
	documentation = "../docs/benchmarks.md"
	kept          = "counts.json"
)

type options struct {
	workloads    *regexp.Regexp
	write        bool
	count, check bool
	one          string // what a run under cachegrind does: "POOL/WORKLOAD"
	turns        int
}

func main() {
	o := options{workloads: new(regexp.Regexp)}
	flag.TextVar(o.workloads, "workloads", regexp.MustCompile(""),
		"count only those that the `regexp` matches, such as 'W1 4 KiB'")
	flag.BoolVar(&o.write, "write", false, "write the counts where they are documented")
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
	switch {
	case o.write && o.workloads.String() != "":
		return errors.New("-write is for all workloads")
	case o.one != "":
		return playOne(o.one, o.turns)
	case o.check:
		return check()
	case o.count:
		return o.countAll()
	}
	return errors.New("-count or -check says what to do")
}

// contenders returns our pools and the harness.
func contenders() []contender {
	return []contender{
		ours("heap", "device=heap"), ours("mmap", "device=mmap"), ours(uncached, "device=mmap,cache_bytes=0"), newHarness(),
	}
}
