// Command record-arrow records the allocations of a real program: it reads a
// large CSV with Apache Arrow, casts, filters, sorts and aggregates it, and
// writes Parquet and Arrow files. Its recording ships with bufslab as the
// trace that bufslab replay takes when it is given none:
//
//	go run . ../../cmd/bufslab/arrow-csv.csv.gz
//
// With a configuration for a second argument the program allocates from such
// a pool:
//
//	go run . trace.csv.gz strategy=slab,device=mmap
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/apache/arrow-go/v18/arrow/compute"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/trace"
)

const rows = 300_000

func main() {
	if len(os.Args) < 2 || len(os.Args) > 3 {
		fmt.Fprintln(os.Stderr, "usage: record-arrow TRACE [CONFIG]")
		os.Exit(2)
	}
	line := "strategy=direct"
	if len(os.Args) == 3 {
		line = os.Args[2]
	}
	if err := record(os.Args[1], line); err != nil {
		fmt.Fprintln(os.Stderr, "record-arrow:", err)
		os.Exit(1)
	}
}

// record runs the program on a pool and writes what it allocates to a file.
func record(path, line string) (err error) {
	c, err := slab.ParseConfig(line)
	if err != nil {
		return err
	}
	pool, err := slab.OpenConfig(c)
	if err != nil {
		return err
	}
	w, err := trace.Create(path)
	if err != nil {
		return errors.Join(err, pool.Close())
	}
	r := &recorder{next: newAdapter(pool), w: w, ids: map[*byte]uint64{}}
	// What is not freed in the end would be a mistake in the program below.
	checked := memory.NewCheckedAllocator(r)
	// With one goroutine a recording depends on nothing but the program.
	one := compute.DefaultExecCtx()
	one.NumParallel = 1
	ctx := compute.SetExecCtx(compute.WithAllocator(context.Background(), checked), one)
	err = work(ctx, checked, os.Stdout)
	if live := checked.CurrentAlloc(); live != 0 {
		err = errors.Join(err, fmt.Errorf("%d bytes were never freed", live))
	}
	return errors.Join(err, w.Close(), pool.Close())
}
