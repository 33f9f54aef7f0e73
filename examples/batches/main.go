// Command batches sends batches through a device: each is copied in, computed on and copied
// out. It does so with memory that is allocated for each batch, with that of a pool, and with
// a pool and two streams, of which one copies while the other computes. The device is
// simulated and has a clock of its own, so no GPU is needed. With the name of another it runs
// there, by the machine's clock:
//
//	go run .
//	go run -tags metal . metal:0
package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/slab"
)

const batches, largest = 200, 1 << 20

// costs are about those of a card on 16 lanes of PCIe 4. What a kernel computes is up to us:
// ours take a nanosecond for 16 bytes.
var costs = sim.Costs{Call: 5 * time.Microsecond, Latency: 5 * time.Microsecond, ToDevice: 24e9, ToHost: 24e9}

func main() {
	sizes := randomSizes(batches, largest)
	var err error
	if len(os.Args) > 1 {
		err = runOn(os.Stdout, os.Args[1], sizes)
	} else {
		err = run(os.Stdout, sizes)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "batches:", err)
		os.Exit(1)
	}
}

// randomSizes returns the sizes of n batches, a quarter of most to all of it, the same in each run.
func randomSizes(n, most int) []int {
	r := rand.New(rand.NewPCG(1, 2))
	sizes := make([]int, n)
	for i := range sizes {
		sizes[i] = most/4 + r.IntN(most*3/4)
	}
	return sizes
}

func run(out io.Writer, sizes []int) error {
	fmt.Fprintf(out, "%d batches of %d to %d KiB, times by the device's clock\n\n",
		len(sizes), slices.Min(sizes)>>10, slices.Max(sizes)>>10)
	fmt.Fprintf(out, "%-28s %10s %12s %12s %15s\n", "", "time", "Alloc calls", "Free calls", "peak on device")
	for _, v := range variants {
		d := sim.New(1 << 30)
		d.Costs(costs)
		if err := v.send(d, sizes); err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		s := d.Stats()
		fmt.Fprintf(out, "%-28s %10v %12d %12d %11.1f MiB\n", v.name, d.Clock().Round(10*time.Microsecond),
			s.AllocCalls, s.FreeCalls, float64(s.PeakBytes)/(1<<20))
	}
	return nil
}

// runOn is run on a device of that name.
func runOn(out io.Writer, name string, sizes []int) (err error) {
	opened, err := device.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	d, ok := opened.(gpu)
	if !ok {
		return fmt.Errorf("%s has no page-locked host memory", name)
	}
	fmt.Fprintf(out, "%d batches of %d to %d KiB on %s\n\n", len(sizes), slices.Min(sizes)>>10, slices.Max(sizes)>>10,
		name)
	for _, v := range variants {
		began := time.Now()
		if err := v.send(d, sizes); err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		fmt.Fprintf(out, "%-28s %10v\n", v.name, time.Since(began).Round(10*time.Microsecond))
	}
	return nil
}

var variants = []struct {
	name string
	send func(gpu, []int) error
}{
	{"Alloc and Free, one stream", allocated},
	{"pool, one stream", func(d gpu, sizes []int) error { return pooled(d, sizes, 1) }},
	{"pool, two streams", func(d gpu, sizes []int) error { return pooled(d, sizes, 2) }},
}

// allocated is before: the memory of a batch must not be freed while the stream works on it,
// so the program waits.
func allocated(d gpu, sizes []int) error {
	l, err := newLane(d)
	if err != nil {
		return err
	}
	defer l.close()
	for i, n := range sizes {
		if err := l.sendAllocated(d, i, n); err != nil {
			return err
		}
	}
	return nil
}

func (l *lane) sendAllocated(d gpu, i, n int) error {
	src, err := d.Alloc(n)
	if err != nil {
		return err
	}
	defer d.Free(src)
	dst, err := d.Alloc(n)
	if err != nil {
		return err
	}
	defer d.Free(dst)
	return errors.Join(l.enqueue(i, src, dst), l.check())
}

// pooled is after. A lane is waited for only when its next batch comes, so with two lanes there
// is always one at work.
func pooled(d gpu, sizes []int, streams int) (err error) {
	pool, err := slab.Open(d, slab.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	lanes := make([]*lane, streams)
	for i := range lanes {
		if lanes[i], err = newLane(d); err != nil {
			return err
		}
		defer lanes[i].close()
	}
	for i, n := range sizes {
		l := lanes[i%streams]
		if err := errors.Join(l.check(), l.sendPooled(pool, i, n)); err != nil {
			return err
		}
	}
	for _, l := range lanes {
		err = errors.Join(err, l.check())
	}
	return err
}

// sendPooled releases the memory as soon as its work is enqueued. The pool knows by GetOn which
// stream uses it, and gives it to nobody else before that is done.
func (l *lane) sendPooled(pool *slab.Pool, i, n int) error {
	src, err := pool.GetOn(n, l.stream)
	if err != nil {
		return err
	}
	defer src.Release()
	dst, err := pool.GetOn(n, l.stream)
	if err != nil {
		return err
	}
	defer dst.Release()
	return l.enqueue(i, src.Block(), dst.Block())
}
