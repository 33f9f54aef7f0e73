package slab

import (
	"slices"
	"testing"
	"time"
)

// A touched buffer of 64 MiB off the heap becomes one of 128 MiB, for the first time in a
// pool: by Grow, and by Get, copy and Release. It reports the medians and their ratio:
//
//	go test -run '^$' -bench GrowTo128MiB -benchtime 40x ./slab
func BenchmarkGrowTo128MiB(b *testing.B) {
	var grow, copied []time.Duration
	for b.Loop() {
		grow = append(grow, growth64MiB(b, func(x PooledBuffer) (PooledBuffer, error) { return x.Grow(128 << 20) }))
		copied = append(copied, growth64MiB(b, getAndCopy))
	}
	g, c := median(grow), median(copied)
	b.ReportMetric(float64(g.Nanoseconds()), "grow-ns")
	b.ReportMetric(float64(c.Nanoseconds()), "copy-ns")
	b.ReportMetric(float64(c)/float64(g), "ratio")
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

func getAndCopy(x PooledBuffer) (PooledBuffer, error) {
	y, err := (&Pool{poolOf(x.slot)}).Get(128 << 20)
	if err != nil {
		return y, err
	}
	copy(y.Bytes(), x.Bytes())
	return y, x.Release()
}

func growth64MiB(b *testing.B, grow func(PooledBuffer) (PooledBuffer, error)) time.Duration {
	p := mustOpen(b, openDevice(b, "mmap"), Config{Device: "mmap", GCTrigger: -1})
	defer p.Close()
	x := mustGet(b, p, 64<<20)
	for i, m := 0, x.Bytes(); i < len(m); i += page {
		m[i] = 1
	}
	start := time.Now()
	y, err := grow(x)
	took := time.Since(start)
	if err != nil || y.Bytes()[64<<20-page] != 1 {
		b.Fatal(err)
	}
	mustRelease(b, y)
	return took
}
