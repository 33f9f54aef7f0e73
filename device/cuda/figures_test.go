//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/cuda/internal/double"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// Benchmarks are named of=WHO/size=BYTES, as peers.py names those of PyTorch
// and CuPy, so that one table shows all.
var sizes = []int{4 << 10, 1 << 20, 16 << 20, 256 << 20}

// pair is what a hit of a pool, and a fresh allocation, are measured by.
type pair func(b *testing.B, size int)

func hit(name string, c slab.Config) pair {
	return func(b *testing.B, size int) {
		p := openPool(b, opened(b, name), c)
		defer p.Close()
		x, err := p.Get(size) // the miss before all hits
		if errors.Is(err, device.ErrOutOfMemory) {
			b.Skip(err)
		}
		check.Must(b, err)
		check.Must(b, x.Release())
		for b.Loop() {
			x, err := p.Get(size)
			if err != nil { // must takes longer than Get
				b.Fatal(err)
			}
			_ = x.Release()
		}
	}
}

func fresh(name string) pair { return hit(name, slab.Config{Strategy: "direct"}) }

func BenchmarkPair(b *testing.B) {
	for _, who := range []struct {
		name string
		pair pair
	}{
		{"bufslab", hit("cuda:0", slab.Config{})},
		{"bufslab-sizeclass", hit("cuda:0", slab.Config{Strategy: "sizeclass"})},
		{"bufslab-pinned", hit("cuda:0:pinned", slab.Config{})},
		{"cuMemAlloc", fresh("cuda:0")},
		{"cuMemAllocAsync", fresh("cuda:0:async")},
		{"cuMemHostAlloc", fresh("cuda:0:pinned")},
	} {
		for _, size := range sizes {
			b.Run(fmt.Sprintf("of=%s/size=%d", who.name, size), func(b *testing.B) { who.pair(b, size) })
		}
	}
}

func BenchmarkCopy(b *testing.B) {
	for who, name := range map[string]string{"bufslab-pinned": "cuda:0:pinned", "bufslab-pageable": "heap"} {
		for _, size := range sizes {
			for _, way := range []string{"up", "down"} {
				b.Run(fmt.Sprintf("of=%s/way=%s/size=%d", who, way, size), func(b *testing.B) {
					d := opened(b, "cuda:0")
					dst, src := allocated(b, d, size), allocated(b, opened(b, name), size)
					if clear(device.Bytes(src)); way == "down" {
						dst, src = src, dst
					}
					s := streamOn(b, d)
					b.SetBytes(int64(size))
					for b.Loop() {
						if s.Copy(dst, src) != nil || s.Sync() != nil {
							b.Fatal("a copy failed")
						}
					}
				})
			}
		}
	}
}

// A hit costs a small part of what the driver takes: a hundredth where an
// allocation is 100 us, as the double can be told, a thousandth on a GPU, for
// blocks that the driver does not carve from larger ones.
func TestHitAgainstFreshAllocation(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector takes longer than both")
	}
	if double.Present() && inProcess(t, "CUDA_DOUBLE_COST_US=100") {
		return
	}
	size, least := 4<<10, 100.0
	if !double.Present() {
		size, least = 16<<20, 1000
	}
	d := opened(t, "cuda:0")
	f := took(t, d, "direct", size, 100)
	for _, strategy := range []string{"sizeclass", "slab"} {
		h := took(t, d, strategy, size, 100_000)
		ratio := float64(f) / float64(h)
		t.Logf("%d bytes: %v by the driver, %v by strategy %s, %.0f times", size, f, h, strategy, ratio)
		if ratio < least {
			t.Errorf("a hit of %v against %v is a gain of %.0f, not %.0f", h, f, ratio, least)
		}
	}
}

// took returns the time of one get and release out of n, the first not counted.
func took(t *testing.T, d device.Device, strategy string, size, n int) time.Duration {
	t.Helper()
	p := openPool(t, d, slab.Config{Strategy: strategy})
	defer p.Close()
	var start time.Time
	for i := range n + 1 {
		if i == 1 {
			start = time.Now()
		}
		b, err := p.Get(size)
		if err != nil {
			t.Fatal(err)
		}
		_ = b.Release()
	}
	return time.Since(start) / time.Duration(n)
}
