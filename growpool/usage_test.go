package growpool

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// While keys get, grow and lose buffers no reading has more than the budget, nor more in keys than is held.
func TestMemoryUsageBesideCalls(t *testing.T) {
	const budget = 600_000
	for _, goroutines := range []int{2, 8} {
		p := New[int](openSlab(t, "device=heap"), Config{MaxBytes: budget})
		defer p.Close()
		var stop atomic.Bool
		var calls atomic.Int64
		var all sync.WaitGroup
		for g := range goroutines {
			all.Go(func() {
				for r := rand.New(rand.NewPCG(uint64(g), 1)); !stop.Load(); calls.Add(1) {
					_, _ = Get[byte](p, r.IntN(200), 1+r.IntN(20_000))
				}
			})
		}
		for end := time.Now().Add(100 * time.Millisecond); !t.Failed() && (calls.Load() < 3000 || time.Now().Before(end)); {
			u := p.MemoryUsage()
			sum := int64(0)
			for _, n := range u.Keys {
				sum += n
			}
			if u.TotalBytes != sum || u.TotalBytes > u.HeldBytes || u.HeldBytes > u.PeakBytes || u.PeakBytes > budget {
				t.Errorf("%d bytes in keys, %d held, %d at most, a budget of %d", u.TotalBytes, u.HeldBytes, u.PeakBytes, budget)
			}
		}
		stop.Store(true)
		all.Wait()
		if u := p.MemoryUsage(); u.TotalBytes == 0 || u.TotalBytes != u.HeldBytes {
			t.Errorf("at rest %d bytes in keys, %d held", u.TotalBytes, u.HeldBytes)
		}
	}
}
