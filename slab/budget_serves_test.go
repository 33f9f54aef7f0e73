package slab

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A budget serves a program whose sizes vary and shift, with little more than what is live: a tenth on
// mmap, a quarter on the Go heap, where regions cannot be joined. Caches are on, as by default.
func TestABudgetServesWhatVaries(t *testing.T) {
	atLength(t)
	const live, most = 32 << 20, 2 << 20
	phase := 2000    // the live bytes are got anew a dozen times in each
	if raceEnabled { // one goroutine has no races, and takes half a minute
		phase = 1000
	}
	for dev, budget := range map[string]int64{"mmap": live * 110 / 100, "heap": live * 125 / 100} {
		needRange(t, dev)
		p := openPool(t, dev, Config{MaxBytes: budget})
		r := rand.New(rand.NewPCG(1, 2))
		var out []PooledBuffer
		n := 0
		for i := range 6 * phase {
			size := int(math.Exp2(6 + 15*r.Float64()))
			switch i / phase {
			case 1, 3, 5:
				size = max(64, size/8)
			case 2:
				size = min(most, size*4)
			}
			for n+size > live {
				j := r.IntN(len(out))
				n -= out[j].Len()
				mustRelease(t, out[j])
				out[j] = out[len(out)-1]
				out = out[:len(out)-1]
			}
			b, err := p.Get(size)
			if err != nil {
				t.Fatalf("%s: Get %d of %d bytes, with %d live: %v", dev, i, size, n, err)
			}
			out = append(out, b)
			n += size
		}
		releaseAll(t, out)
	}
}
