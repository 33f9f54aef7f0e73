package bufslab_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// Pair: one buffer got and put again, the cost of a hit.
func BenchmarkPair(b *testing.B) {
	each(b, func(b *testing.B, s bench) {
		sized(b, s.pair, 64, 1<<10, 4<<10, 32<<10, 256<<10, 1<<20, 16<<20)
	})
}

// Burst: sixteen got, then sixteen put; ns/op is of a pair.
func BenchmarkBurst(b *testing.B) {
	each(b, func(b *testing.B, s bench) { sized(b, s.burst, 1<<10, 4<<10, 256<<10) })
}

// Churn: 64 out a goroutine, sizes log-uniform in 64 B..1 MiB, one after the other replaced.
func BenchmarkChurn(b *testing.B) { each(b, func(b *testing.B, s bench) { s.churn(b) }) }

// HandOver: got in one goroutine, put in another, in batches of 64.
func BenchmarkHandOver(b *testing.B) {
	each(b, func(b *testing.B, s bench) { sized(b, s.handOver, 1<<10, 32<<10, 1<<20) })
}

// Keyed: sixteen buffers a goroutine, each replaced by one of another size in turn.
func BenchmarkKeyed(b *testing.B) { each(b, func(b *testing.B, s bench) { s.keyed(b) }) }

// Collect: milliseconds of a collection with 1 GiB out as blocks of 4 KiB.
func BenchmarkCollect(b *testing.B) { each(b, func(b *testing.B, s bench) { s.collect(b) }) }

func touch(m []byte) { m[0], m[len(m)-1] = 1, 1 }

func start[H any](b *testing.B, s subject[H], n int) {
	h, _ := s.get(n)
	s.put(h)
	b.ReportAllocs()
	b.ResetTimer()
}

func pair[H any](b *testing.B, s subject[H], n int) {
	start(b, s, n)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			h, m := s.get(n)
			touch(m)
			s.put(h)
		}
	})
}

func burst[H any](b *testing.B, s subject[H], n int) {
	start(b, s, n)
	b.RunParallel(func(pb *testing.PB) {
		var out [16]H
		k := 0
		for pb.Next() {
			h, m := s.get(n)
			touch(m)
			out[k] = h
			if k++; k == len(out) {
				for ; k > 0; k-- {
					s.put(out[k-1])
				}
			}
		}
		for ; k > 0; k-- {
			s.put(out[k-1])
		}
	})
}

// logUniform returns sizes whose logarithms are even between those of lo and hi.
func logUniform(lo, hi float64) []int {
	r := rand.New(rand.NewPCG(1, 2))
	v := make([]int, 1<<12)
	for i := range v {
		v[i] = int(lo * math.Pow(hi/lo, r.Float64()))
	}
	return v
}

func churn[H any](b *testing.B, s subject[H]) {
	replace(b, s, 64, logUniform(64, 1<<20))
}

func keyed[H any](b *testing.B, s subject[H]) {
	replace(b, s, 16, logUniform(1<<10, 4<<20))
}

// replace keeps so many out a goroutine and replaces them at random.
func replace[H any](b *testing.B, s subject[H], out int, sizes []int) {
	var seed atomic.Uint64
	start(b, s, 64)
	b.RunParallel(func(pb *testing.PB) {
		x := seed.Add(1) * 0x9E3779B97F4A7C15
		live, held := make([]H, out), make([]bool, out)
		for pb.Next() {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			i := int(x % uint64(out))
			if held[i] {
				s.put(live[i])
			}
			h, m := s.get(sizes[x>>32%uint64(len(sizes))])
			touch(m)
			live[i], held[i] = h, true
		}
		for i := range live {
			if held[i] {
				s.put(live[i])
			}
		}
	})
}

func handOver[H any](b *testing.B, s subject[H], n int) {
	type batch []H
	there, back := make(chan batch, 2), make(chan batch, 4)
	for range 3 {
		back <- make(batch, 0, 64)
	}
	start(b, s, n)
	var wg sync.WaitGroup
	wg.Go(func() {
		for v := range there {
			for _, h := range v {
				s.put(h)
			}
			clear(v)
			back <- v[:0]
		}
	})
	for i := 0; i < b.N; i += 64 {
		v := <-back
		for range min(64, b.N-i) {
			h, m := s.get(n)
			touch(m)
			v = append(v, h)
		}
		there <- v
	}
	close(there)
	wg.Wait()
}

func collect[H any](b *testing.B, s subject[H]) {
	const size = 4 << 10
	live := make([]H, (1<<30)/size)
	for i := range live {
		h, m := s.get(size)
		touch(m)
		live[i] = h
	}
	var ms []float64
	for range 7 {
		t := time.Now()
		runtime.GC()
		ms = append(ms, time.Since(t).Seconds()*1000)
	}
	slices.Sort(ms)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(ms[len(ms)/2], "ms-gc")
	b.ReportMetric(float64(m.HeapObjects), "objects")
	b.ReportMetric(0, "ns/op")
	for i := range live {
		s.put(live[i])
	}
}

// BenchmarkHoles is the time of a pair among so many free holes, of the
// strategies that split and merge: it is not to grow with them.
func BenchmarkHoles(b *testing.B) {
	for _, strategy := range []string{"bestfit", "slab"} {
		for _, holes := range []int{4096, 65536} {
			b.Run(fmt.Sprintf("strategy=%s/holes=%d", strategy, holes), func(b *testing.B) { amongHoles(b, strategy, holes) })
		}
	}
}

func amongHoles(b *testing.B, strategy string, holes int) {
	d, err := device.Open("virtual")
	if err != nil {
		b.Fatal(err)
	}
	a, err := slab.NewStrategy(strategy, d, slab.Config{})
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	size := func() int { return 2048 + r.IntN(64<<10) }
	blocks := make([]device.Block, 2*holes)
	for i := range blocks {
		if blocks[i], err = a.Alloc(size()); err != nil {
			b.Fatal(err)
		}
	}
	for i := 0; i < len(blocks); i += 2 {
		a.Free(blocks[i])
	}
	b.ResetTimer()
	for range b.N {
		k, err := a.Alloc(size())
		if err != nil {
			b.Fatal(err)
		}
		a.Free(k)
	}
}
