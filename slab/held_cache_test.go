package slab

import (
	"sync"
	"testing"
)

// What Config allows to be held is all that a pool holds, caches included.
func TestBoundsOfWhatIsHeldIncludeTheCaches(t *testing.T) {
	for _, strategy := range []string{"sizeclass", "bestfit", "slab"} {
		for _, held := range []int64{-1, 10_000, 1 << 20} {
			p := openPool(t, "mmap", Config{Strategy: strategy, MaxHeld: held})
			var live []PooledBuffer
			for i := range 400 {
				live = append(live, mustGet(t, p, 1+i*37%20_000))
			}
			for _, b := range live {
				b.Release()
			}
			if s := p.Stats(); s.HeldBytes > max(held, 0) {
				t.Errorf("%s, at most %d: %d bytes held", strategy, held, s.HeldBytes)
			}
			p.Close()
		}
	}
	p := openPool(t, "mmap", Config{Strategy: "sizeclass", MaxHeldBlocks: -1})
	mustGet(t, p, 1000).Release()
	if s := p.Stats(); s.HeldBlocks != 0 {
		t.Errorf("no blocks to be held: %+v", s)
	}
	p = openPool(t, "mmap", Config{Strategy: "sizeclass", MaxBlockBytes: 100 << 10})
	mustGet(t, p, 100<<10).Release() // in a block of 112 KiB
	mustGet(t, p, 200<<10).Release()
	if s := p.Stats(); s.HeldBlocks != 0 {
		t.Errorf("no blocks above 100 KiB to be held: %+v", s)
	}
}

// It holds as well where many have released, each on a processor of its own.
func TestBoundsHoldBesideEachOther(t *testing.T) {
	for _, strategy := range []string{"sizeclass", "bestfit", "slab"} {
		for _, held := range []int64{1 << 20, 4 << 20} {
			p := openPool(t, "mmap", Config{Strategy: strategy, MaxHeld: held})
			var wg sync.WaitGroup
			for g := range 4 {
				wg.Go(func() {
					var live [400]PooledBuffer
					for i := range live {
						live[i] = mustGet(t, p, 1+(i*37+g*11)%20_000)
					}
					for _, b := range live {
						b.Release()
					}
				})
			}
			wg.Wait()
			if s := p.Stats(); s.HeldBytes > held {
				t.Errorf("%s, at most %d: %d bytes held", strategy, held, s.HeldBytes)
			}
			p.Close()
		}
	}
}
