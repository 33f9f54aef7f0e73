package slab

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkHandOver has 64 goroutines want the one buffer that is left of 8 MiB. It
// reports how long it takes from a Release until the next one has the memory.
func BenchmarkHandOver(b *testing.B) {
	for _, s := range []string{"sizeclass", "bestfit", "slab", "exact"} {
		for name, size := range map[string]int{"8MiB": 8 << 20, "1MiB": 1 << 20, "4KiB": 4 << 10} {
			b.Run(s+"/"+name, func(b *testing.B) { benchHandOver(b, s, size) })
		}
	}
}

func benchHandOver(b *testing.B, strategy string, size int) {
	p := mustOpen(b, openDevice(b, "mmap"), Config{Strategy: strategy, MaxBytes: 8 << 20, GCTrigger: -1})
	defer p.Close()
	var rest []PooledBuffer
	for {
		x, err := p.Get(size)
		if err != nil {
			break
		}
		rest = append(rest, x)
	}
	mustRelease(b, rest[len(rest)-1])
	defer releaseAll(b, rest[:len(rest)-1])
	var released atomic.Int64
	var mu sync.Mutex
	var took []time.Duration
	var all sync.WaitGroup
	start := time.Now()
	for range 64 {
		all.Go(func() {
			for range max(1, b.N/64) {
				x, err := p.GetContext(b.Context(), size)
				if err != nil {
					b.Error(err)
					return
				}
				mu.Lock()
				if at := released.Load(); at > 0 {
					took = append(took, time.Since(start)-time.Duration(at))
				}
				mu.Unlock()
				runtime.Gosched() // the others come to wait
				released.Store(int64(time.Since(start)))
				mustRelease(b, x)
			}
		})
	}
	all.Wait()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
	b.ReportMetric(float64(p.Stats().Waits)/float64(len(took)), "waits/op")
}
