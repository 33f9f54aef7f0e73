// Command bench counts the instructions of what a Get and a Release do, by valgrind's cachegrind,
// whatever else the machine does:
//
//	go run . -count                 # print them
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
)

// Files that have figures of ours, from this directory.
const (
	documentation = "../docs/benchmarks.md"
	kept          = "counts.json"
)

func main() {
	write := flag.Bool("write", false, "write the counts where they are documented")
	countAll := flag.Bool("count", false, "count instructions under cachegrind")
	checkAll := flag.Bool("check", false, "count them, and compare with counts.json")
	one := flag.String("one", "", "what a run under cachegrind does: `POOL/WORKLOAD`")
	ops := flag.Int("ops", 0, "operations of -one, once it is warm")
	flag.Parse()
	err := errors.New("-count or -check says what to do")
	switch {
	case *one != "":
		err = playOne(*one, *ops)
	case *checkAll:
		err = check()
	case *countAll:
		err = printAll(*write)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
