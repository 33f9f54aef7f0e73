//go:build unix

// Command scale says how many processors a pool of ours can serve. It builds the programs of package programs,
// and churn below, with a sync.Mutex in package slab and below it that counts: how often each lock is taken, for how
// long, and how long others wait for it. From that a model says at how many processors half of the time would be
// spent waiting (see half). From the directory above, on a quiet machine:
//
//	go run ./scale                        # all, some four minutes
//	go run ./scale -of 'churn|grpc' -kind heap
//
// Each line has a run on one processor, of which the model is made, and one on two. There the model has to foretell
// which share of the calls finds the lock taken. What it takes to count is measured, and not part of the figures. Of
// a lock that is taken under another one the time is part of both. A lock with a number behind it stands for so many,
// which are used alike: those of the processors, for one.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"text/tabwriter"
)

func main() {
	of := flag.String("of", "", "only those that the `regexp` matches")
	kind := flag.String("kind", "mmap", "heap or mmap: the `device` of the pool")
	child := flag.String("child", "", "run churn, and touch this `share` of its bytes: 0 to 100")
	ops := flag.Int("ops", 1_000_000, "operations of -child")
	flag.Parse()
	if err := run(os.Stdout, *of, *kind, *child, *ops); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, of, kind, child string, ops int) error {
	if child != "" {
		return churnShare(out, kind, child, ops)
	}
	re, err := regexp.Compile(of)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "scale")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := build(dir, "..")
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "work\tus/op\tlock\ttaken/op\tns held/op\tcontended on 2\tforetold\thalf waits from")
	for _, w := range works() {
		if re.MatchString(w.name) {
			if err := w.measure(t, b, kind); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
	}
	return t.Flush()
}
