package main

import "github.com/bufslab/bufslab/slab"

// A pool hands out n bytes and takes them back.
type pool interface {
	get(n int) (slab.PooledBuffer, []byte)
	put(slab.PooledBuffer)
}

// uncached is a pool of which each Get and Release goes to the strategy.
const uncached = "mmap uncached"

// pools are those that are counted, with the line of each.
var pools = []struct{ name, line string }{
	{"heap", "device=heap"}, {"mmap", "device=mmap"}, {uncached, "device=mmap,cache_bytes=0"},
}

// ours is a pool of ours, opened as a user would.
type ours struct{ *slab.Pool }

func (s ours) get(n int) (slab.PooledBuffer, []byte) {
	b, err := s.Get(n)
	if err != nil {
		panic(err)
	}
	return b, b.Bytes()
}

func (s ours) put(b slab.PooledBuffer) {
	if err := b.Release(); err != nil {
		panic(err)
	}
}

// A harness is a pool that does nothing: what a workload itself costs. It hands out the same memory every time. It
// is counted beside the pools, and taken off their figures.
type harness struct{ memory []byte }

func (h *harness) get(n int) (b slab.PooledBuffer, m []byte) { return b, h.memory[:n] }
func (h *harness) put(slab.PooledBuffer)                     {}

// open returns the pool of a name.
func open(name string) pool {
	for _, p := range pools {
		if p.name == name {
			return ours{slab.MustOpen(p.line)}
		}
	}
	return &harness{make([]byte, largest)}
}
