package slab

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
)

// Long streams keep buffers of 4 KiB while others of up to 1 MiB come and go: none of the large ones
// ends on a long stream, and the pool has little more than what was out (golang/net#182).
func TestLongLivedBuffersBesideLargeOnes(t *testing.T) {
	// With two the scheduler says whose caches have blocks, and on a busy machine both have some.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, dev := range []string{"heap", "mmap"} { // with the default strategy of each
		p := openPool(t, dev, Config{})
		r := rand.New(rand.NewPCG(1, 2))
		var long, churn []PooledBuffer
		var live, peak int64
		get := func(list *[]PooledBuffer, n int) {
			b := mustGet(t, p, n)
			*list = append(*list, b)
			live += int64(n)
			peak = max(peak, live)
			if n >= 4<<10 && cap(b.Bytes()) > n+n/4 {
				t.Errorf("%s: %d bytes have a capacity of %d", dev, n, cap(b.Bytes()))
			}
		}
		for range 8000 {
			get(&long, 4<<10)
			if r.IntN(100) == 0 {
				get(&churn, 1<<20)
			}
			if r.IntN(4) == 0 {
				get(&churn, int(math.Exp2(6+14*r.Float64())))
			}
			if len(churn) > 8 {
				b := takeAt(&churn, r.IntN(len(churn)))
				live -= int64(b.Len())
				mustRelease(t, b)
			}
		}
		if ratio := float64(p.Stats().PeakManagedBytes) / float64(peak); ratio > 1.3 {
			t.Errorf("%s: %.2f times what was out", dev, ratio)
		} else {
			t.Logf("%s: %.2f times what was out", dev, ratio)
		}
		releaseAll(t, append(long, churn...))
	}
}
