package slab

import (
	"math/rand/v2"
	"sync"
	"testing"
)

// Drains beside everybody else on the same few blocks: whoever has one is
// alone with it. Without the fence this fails.
func TestDrainsBesideHits(t *testing.T) {
	besideHits(t, Config{}, 1<<10, func(k *core) { k.emptyCaches() })
}

// Where the budget is so small that classes evict each other all the time, a
// block that is released during a drain stays of its class.
func TestDrainsBesideEvictions(t *testing.T) {
	besideHits(t, Config{CacheBytes: 8 << 10}, 64, func(k *core) { k.emptyCaches() })
}

// besideHits disturbs four goroutines that get and release blocks of a size and of
// up to 128 times as much.
func besideHits(t *testing.T, c Config, size int, disturb func(*core)) {
	c.Strategy = "sizeclass"
	for _, dev := range []string{"heap", "mmap"} {
		p := openPool(t, dev, c)
		rounds := 200_000
		if testing.Short() || raceEnabled {
			rounds = 20_000
		}
		var all sync.WaitGroup
		for g := range 4 {
			all.Go(func() {
				r := rand.New(rand.NewPCG(uint64(g), 3))
				var live [8]PooledBuffer
				for i := range rounds {
					at := &live[r.IntN(len(live))]
					if m := at.Bytes(); m != nil {
						if m[0] != byte(g) || m[len(m)-1] != byte(g) {
							t.Errorf("a block of %d bytes was somebody else's too", len(m))
						}
						at.Release()
					}
					*at = mustGet(t, p, size<<r.IntN(8))
					m := at.Bytes()
					m[0], m[len(m)-1] = byte(g), byte(g)
					if i%64 == 0 && g == 0 {
						disturb(p.c)
					}
				}
				for _, b := range live {
					b.Release()
				}
			})
		}
		all.Wait()
		checkQuiet(t, p)
		if s := p.Stats(); s.ActiveBlocks != 0 || s.ActiveBytes != 0 {
			t.Errorf("%+v", s)
		}
	}
}
