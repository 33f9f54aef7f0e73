// Command analytics computes on orders with Apache Arrow: it builds columns, derives one,
// filters the rows and adds them up by country, batch by batch. It does so in memory that
// the collector takes away, and in that of a pool, on the Go heap and outside:
//
//	go run .
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/bufslab/bufslab/adapt"
	"github.com/bufslab/bufslab/slab"
)

const batches, rows = 200, 30_000

func main() {
	if err := run(os.Stdout, batches, rows); err != nil {
		fmt.Fprintln(os.Stderr, "analytics:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, batches, rows int) error {
	fmt.Fprintf(out, "%d batches of %d orders\n\n", batches, rows)
	fmt.Fprintf(out, "%-20s%10s%9s%14s%13s%14s\n", "", "time", "GC CPU", "from Go heap", "collections", "pool at most")
	var first result
	for i, v := range variants {
		c, err := v.measure(batches, rows)
		if err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		fmt.Fprintf(out, "%-20s%10v%7.1f %%%10.1f MiB%13d%10.1f MiB\n", v.name, c.time.Round(time.Millisecond),
			100*c.collectorShare, mib(c.bytes), c.collections, mib(uint64(c.pool.PeakManagedBytes)))
		if i == 0 {
			first = c.result
		} else if c.result != first {
			return fmt.Errorf("%s: result %v, not %v", v.name, c.result, first)
		}
	}
	return nil
}

func mib(bytes uint64) float64 { return float64(bytes) / (1 << 20) }

// A variant is one place for Arrow's memory. Without a line it is that of Arrow's own allocator.
type variant struct{ name, line string }

var variants = []variant{
	{"GoAllocator", ""},
	{"Arrow(pool), heap", "device=heap"},
	{"Arrow(pool), mmap", "device=mmap"},
}

// measure opens a pool, if one is needed. Close reports what is still out.
func (v variant) measure(batches, rows int) (c cost, err error) {
	var mem memory.Allocator = memory.NewGoAllocator()
	if v.line != "" {
		pool := slab.MustOpen(v.line)
		defer func() {
			c.pool = pool.Stats()
			err = errors.Join(err, pool.Close())
		}()
		mem = adapt.Arrow(pool)
	}
	return analyse(mem, batches, rows)
}

// A cost is what the computation took, and its result.
type cost struct {
	time           time.Duration
	collectorShare float64 // of the processor time that was used
	bytes          uint64  // allocated from the Go heap
	collections    uint64
	result         result
	pool           slab.Stats
}

func analyse(mem memory.Allocator, batches, rows int) (c cost, err error) {
	runtime.GC() // the runtime adds up processor time at the end of a collection
	before, began := readRuntime(), time.Now()
	c.result, err = orders(mem, batches, rows)
	c.time = time.Since(began)
	runtime.GC()
	after := readRuntime()
	c.collectorShare = (after.collector - before.collector) / (after.used - before.used)
	c.bytes = after.bytes - before.bytes
	c.collections = after.collections - before.collections - 1 // but ours
	return c, err
}

// A reading is what the Go runtime tells.
type reading struct {
	collector, used    float64 // seconds of all processors
	bytes, collections uint64
}

func readRuntime() reading {
	m := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/cpu/classes/total:cpu-seconds"},
		{Name: "/cpu/classes/idle:cpu-seconds"},
		{Name: "/gc/heap/allocs:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"},
	}
	metrics.Read(m)
	return reading{m[0].Value.Float64(), m[1].Value.Float64() - m[2].Value.Float64(), m[3].Value.Uint64(),
		m[4].Value.Uint64()}
}
