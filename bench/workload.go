package main

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/bufslab/bufslab/slab"
)

// A workload is what a program does with a pool, on one processor.
type workload struct {
	name, title string
	size        int // of all buffers, in bytes; 0 if they are mixed
	begin       func(p pool, size int) turn
}

// A turn does so many operations. What an operation of a churn has out, the next turn has still.
type turn func(ops int)

const largest = 1 << 20 // bytes of a buffer

var workloads = []workload{
	{"W1", "hot pair, 4 KiB", 4 << 10, pairs},
	{"W1B", "16 out at once, 4 KiB", 4 << 10, bursts},
	{"W2", "churn", 0, churn},
	{"W3", "hand-over, 4 KiB", 4 << 10, handOver},
}

// touch writes to both ends of a buffer, which is what every user does at least.
func touch(b []byte) { b[0], b[len(b)-1] = 1, 1 }

// pairs are hits: one buffer got and put again.
func pairs(p pool, size int) turn {
	return func(ops int) {
		for range ops {
			h, b := p.get(size)
			touch(b)
			p.put(h)
		}
	}
}

// bursts have sixteen buffers out: no place for one is enough.
func bursts(p pool, size int) turn {
	const out = 16
	return func(ops int) {
		var handles [out]slab.PooledBuffer
		for range ops / out {
			for i := range handles {
				h, b := p.get(size)
				touch(b)
				handles[i] = h
			}
			for i := range handles {
				p.put(handles[out-1-i])
			}
		}
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

// churn has 64 buffers out. It puts one chosen at random and gets one of another size in its place.
func churn(p pool, _ int) turn {
	var live [64]slab.PooledBuffer
	var out [64]bool
	random := rand.NewPCG(0, 64)
	return func(ops int) {
		for range ops {
			r := random.Uint64()
			i := r % 64
			if out[i] {
				p.put(live[i])
			}
			h, b := p.get(churnSizes[r>>32%uint64(len(churnSizes))])
			touch(b)
			live[i], out[i] = h, true
		}
	}
}

// handOver has one goroutine get buffers and another put them. They go over a channel in batches of 64, three
// batches in all.
func handOver(p pool, size int) turn {
	const batch, batches = 64, 3
	return func(ops int) {
		full, empty := make(chan []slab.PooledBuffer, batches), make(chan []slab.PooledBuffer, batches)
		for range batches {
			empty <- make([]slab.PooledBuffer, batch)
		}
		var putter sync.WaitGroup
		putter.Go(func() {
			for handles := range full {
				for _, h := range handles {
					p.put(h)
				}
				empty <- handles
			}
		})
		for range ops / batch {
			handles := <-empty
			for i := range handles {
				h, b := p.get(size)
				touch(b)
				handles[i] = h
			}
			full <- handles
		}
		close(full)
		putter.Wait()
	}
}
