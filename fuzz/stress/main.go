// Stress uses pools in every way that a program may, all at once: handles, slices, parts, typed
// memory, waits, forgotten buffers, and the packages over a pool, on some goroutines that hand
// buffers to each other. Meanwhile the number of processors, the pace of the collector and its
// limit change, profiles and heap dumps are taken, and processes are started.
//
//	go run ./fuzz/stress [-for 10s] [-workers 4] [-seed N] [LINE]...
//
// Each buffer has contents that only its owner knows. They are looked at before it goes back. At
// the end of a line nothing is out, every count is as the goroutines have counted, and the closed
// pool manages nothing. A line is one of configuration, such as device=mmap,strategy=slab. Without
// one, all lines of the table soak.Lines run, in equal shares of the time.
//
// It prints a row for each line, and what was wrong. It exits with 1 if anything was.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/bufslab/bufslab/fuzz/soak"
)

func main() {
	if os.Getenv(soak.Child) != "" {
		return // a process that weather has started: it has nothing to do
	}
	length := flag.Duration("for", 10*time.Second, "how long, in all")
	workers := flag.Int("workers", 4, "goroutines")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of what the goroutines do")
	flag.Parse()
	chosen := flag.Args()
	if len(chosen) == 0 {
		chosen = soak.Lines
	}
	if *length <= 0 || *workers < 1 {
		fmt.Fprintln(os.Stderr, "stress: -for and -workers have to be positive")
		os.Exit(2)
	}
	fmt.Printf("seed %d, %d goroutines\n", *seed, *workers)
	sound := true
	for _, line := range chosen {
		r, err := soak.Line(line, *length/time.Duration(len(chosen)), *workers, *seed)
		if err != nil {
			fmt.Fprintln(os.Stderr, "stress:", err)
			os.Exit(2)
		}
		fmt.Println(r)
		sound = sound && len(r.Wrong) == 0
	}
	if !sound {
		os.Exit(1)
	}
}
