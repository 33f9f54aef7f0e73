package growpool

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// What is held, now and at most, counts a buffer once there is memory for it: not for a request that fails.
func TestAFailedRequestIsNotHeld(t *testing.T) {
	p := New[string](openSlab(t, "strategy=direct,max_bytes=1000"), Config{})
	l := check.Ok(Acquire[byte](t.Context(), p, "k", 600))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Acquire[byte](ctx, p, "another", 600)
	check.Wraps(t, err, context.Canceled)
	_, err = Get[byte](p, "another", 600)
	check.Wraps(t, err, device.ErrOutOfMemory)
	if u := p.MemoryUsage(); u.HeldBytes != 600 || u.PeakBytes != 600 {
		t.Errorf("%+v", u)
	}
	l.Release()
}

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
