package main

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"
)

// pairs returns turns of a hit: one buffer got and put again.
func pairs[H any](p pool[H], w workload) func(int) time.Duration {
	return func(ops int) time.Duration {
		each := ops / runtime.GOMAXPROCS(0)
		return parallel(w.cold, func(g int) {
			p := own(p, g)
			for range each {
				h, b := p.get(w.size)
				touch(b)
				p.put(h)
			}
		})
	}
}

// bursts returns turns that have sixteen buffers out: no place for one is enough.
func bursts[H any](p pool[H], w workload) func(int) time.Duration {
	const out = 16
	return func(ops int) time.Duration {
		each := ops / runtime.GOMAXPROCS(0) / out
		return parallel(w.cold, func(g int) {
			p := own(p, g)
			var handles [out]H
			for range each {
				for i := range handles {
					h, b := p.get(w.size)
					touch(b)
					handles[i] = h
				}
				for i := range handles {
					p.put(handles[out-1-i])
				}
			}
		})
	}
}

// churnSizes are log-uniform from 64 B to 1 MiB.
var churnSizes = func() (sizes [1 << 12]int) {
	r := rand.New(rand.NewPCG(20, 1))
	for i := range sizes {
		sizes[i] = int(64 * math.Exp2(14*r.Float64()))
	}
	return sizes
}()

// A churner is what a goroutine of a churn has out.
type churner[H any] struct {
	random rand.PCG
	out    [64]bool
	live   [64]H
	_      [64]byte // so that no two share a cache line
}

// replace puts a buffer chosen at random and gets one of another size in its place.
func (c *churner[H]) replace(p pool[H]) {
	r := c.random.Uint64()
	i := r % 64
	if c.out[i] {
		p.put(c.live[i])
	}
	h, b := p.get(churnSizes[r>>32%uint64(len(churnSizes))])
	touch(b)
	c.live[i], c.out[i] = h, true
}

// putAll puts back what is out.
func (c *churner[H]) putAll(p pool[H]) {
	for i, h := range c.live {
		if c.out[i] {
			p.put(h)
		}
	}
	clear(c.out[:])
}

// churns returns turns of a churn, and what puts back all that they leave out.
func churns[H any](p pool[H], w workload) (turn func(int) time.Duration, putBack func()) {
	churners := make([]churner[H], runtime.GOMAXPROCS(0))
	for g := range churners {
		churners[g].random.Seed(uint64(g), 64)
	}
	turn = func(ops int) time.Duration {
		return parallel(w.cold, func(g int) {
			p := own(p, g)
			for range ops / len(churners) {
				churners[g].replace(p)
			}
		})
	}
	return turn, func() {
		for g := range churners {
			churners[g].putAll(own(p, g))
		}
	}
}

// handOvers returns turns in which a goroutine gets buffers and another puts them. They
// go over a channel in batches of 64, three batches in all.
func handOvers[H any](p pool[H], w workload) func(int) time.Duration {
	const batch, batches = 64, 3
	return func(ops int) time.Duration {
		full, empty := make(chan []H, batches), make(chan []H, batches)
		for range batches {
			empty <- make([]H, batch)
		}
		getter, putter := own(p, 0), own(p, 1)
		var wg sync.WaitGroup
		begin := time.Now()
		wg.Go(func() {
			for handles := range full {
				for _, h := range handles {
					putter.put(h)
				}
				empty <- handles
			}
		})
		for range ops / batch {
			handles := <-empty
			for i := range handles {
				h, b := getter.get(w.size)
				touch(b)
				handles[i] = h
			}
			full <- handles
		}
		close(full)
		wg.Wait()
		return time.Since(begin)
	}
}
