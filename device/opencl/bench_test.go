package opencl_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// benched are the forms whose allocations are a call of the driver.
var benched = []string{"opencl:0", "opencl:0:deferred", "opencl:0:svm", "opencl:0:svm-fine", "opencl:0:pinned"}

// BenchmarkHit is a Get that finds a block, and its Release; BenchmarkAlloc is
// what a program without a pool does instead.
func BenchmarkHit(b *testing.B) {
	eachBench(b, func(b *testing.B, d device.Device, size int) {
		p, err := slab.Open(d, slab.Config{})
		if err != nil {
			b.Fatal(err)
		}
		defer p.Close()
		for b.Loop() {
			hit(b, p, size)
		}
	})
}

func BenchmarkAlloc(b *testing.B) {
	eachBench(b, func(b *testing.B, d device.Device, size int) {
		for b.Loop() {
			fresh(b, d, size)
		}
	})
}

// BenchmarkCopy moves bytes to the device, as Device.Copy does.
func BenchmarkCopy(b *testing.B) {
	eachBench(b, func(b *testing.B, d device.Device, size int) {
		blk, err := d.Alloc(size)
		if err != nil {
			b.Fatal(err)
		}
		defer d.Free(blk)
		host := device.Host(make([]byte, size))
		b.SetBytes(int64(size))
		for b.Loop() {
			if err := d.Copy(blk, host); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func eachBench(b *testing.B, f func(b *testing.B, d device.Device, size int)) {
	for _, name := range benched {
		for _, size := range []int{4 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("%s/%dKiB", name, size>>10), func(b *testing.B) {
				d, err := device.Open(name)
				if errors.Is(err, device.ErrUnavailable) {
					b.Skipf("the device is not there: %v", err)
				}
				if err != nil {
					b.Fatal(err)
				}
				defer d.Close()
				f(b, d, size)
			})
		}
	}
}

func hit(t testing.TB, p *slab.Pool, size int) {
	b, err := p.Get(size)
	if err == nil {
		err = b.Release()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func fresh(t testing.TB, d device.Device, size int) {
	b, err := d.Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	d.Free(b)
}

// quickest is the best of several rounds of n calls, by the call: other
// programs make a round slower, and never faster.
func quickest(n int, f func()) time.Duration {
	best := time.Duration(math.MaxInt64)
	for range 10 {
		start := time.Now()
		for range n {
			f()
		}
		best = min(best, time.Since(start))
	}
	return best / time.Duration(n)
}

// A block that is in a cache of the pool costs less than a hundredth of one that
// the driver has to find memory for. Without the caches it depends on the strategy, so
// for those there is only the figure.
func TestHitAgainstAlloc(t *testing.T) {
	if instrumented || testing.Short() {
		t.Skip("this is about time, which the detectors of races and bad addresses take")
	}
	for _, c := range []struct {
		strategy string
		size     int
		cached   bool
	}{
		{"slab", 4 << 10, true}, {"slab", 32 << 10, true}, {"sizeclass", 4 << 10, true}, {"sizeclass", 1 << 20, true},
		{"slab", 1 << 20, false}, {"bitlog", 4 << 10, false}, {"bitlog", 1 << 20, false},
	} {
		d, p := openPool(t, "opencl:0", slab.Config{Strategy: c.strategy})
		alloc := quickest(100, func() { fresh(t, d, c.size) })
		got := quickest(10_000, func() { hit(t, p, c.size) })
		ratio := float64(alloc) / float64(got)
		t.Logf("%s, %d KiB: %v from the device, %v from the pool: %.0f times", c.strategy, c.size>>10, alloc, got, ratio)
		if c.cached && ratio < 100 {
			t.Errorf("%s, %d KiB: only %.0f times", c.strategy, c.size>>10, ratio)
		}
	}
}
