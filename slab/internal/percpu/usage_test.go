package percpu

import (
	"sync"
	"testing"

	"github.com/bufslab/bufslab/slab/internal/handle"
)

// Who adds up looks at a class cache while its owner exchanges magazines: between two reads
// a first magazine has come, or the previous one has gone.
func TestUsageOfMagazinesThatComeAndGo(t *testing.T) {
	s := openStore(t, Options{Largest: 32 << 10, Bytes: 1 << 20, Processors: 1})
	k := &s.caches[0]
	k.setN(1)
	k.nprevious = 1
	if u := s.Usage(); u.Bytes != 0 {
		t.Errorf("%d bytes, without a magazine", u.Bytes)
	}
}

// Usage may run beside all else.
func TestUsageBesideOwners(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 20
	}
	for range rounds {
		s := openStore(t, Options{Largest: 32 << 10, Bytes: 1 << 20})
		var wg sync.WaitGroup
		stop := make(chan struct{})
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					s.Usage()
				}
			}
		})
		for size := 1; size <= 32<<10; size += size/4 + 1 {
			var held []handle.Entry
			for range 40 {
				held = append(held, s.get(t, size))
			}
			for _, e := range held {
				s.release(e, size)
			}
		}
		close(stop)
		wg.Wait()
		s.Reclaim(false)
	}
}
