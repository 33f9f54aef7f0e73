package soak

import "sync/atomic"

// counts are what all goroutines have done and seen.
type counts struct {
	rounds, steps, refused, forgotten, works, doubles, changes atomic.Int64
	outgrown                                                   atomic.Int64   // buffers of keys, at most
	taken                                                      []atomic.Int64 // by way
	failures, panics                                           atomic.Int64   // of devices
	closed, violations                                         atomic.Int64
	quarantined                                                atomic.Int64 // bytes whose slices escaped
	left                                                       atomic.Int64 // bytes that their pools have still
}

func countsOf(n int) *counts { return &counts{taken: make([]atomic.Int64, n)} }

func (c *counts) gets() (n int64) {
	for i := range c.taken {
		n += c.taken[i].Load()
	}
	return n
}
