package slab

import (
	"iter"
)

// A Metric is a figure of a pool for monitoring systems.
type Metric struct {
	Name  string // such as bufslab_held_bytes; a Counter's ends in _total
	Help  string // a sentence
	Unit  string // bytes, seconds, or "" for a number of things
	Kind  Kind
	Value float64
}

// Metrics returns every field of Stats as a metric, in the order of the fields. All are read
// together when the loop begins. Label them with [Pool.Name]: metrics of all pools have the
// same names.
//
// A counter never falls from one loop to the next: a monitoring system would take that for a restart.
func (p *Pool) Metrics() iter.Seq[Metric] {
	p.opened()
	return func(yield func(Metric) bool) {
		s := p.Stats()
		for i := range statFields {
			if !yield(statFields[i].metric(&s)) {
				return
			}
		}
	}
}

// Fragmentation says how the free memory of a page heap lies. It is not in Stats, as it
// has to look at each free extent.
type Fragmentation struct {
	FreeBytes        int64 `json:"free_bytes"`         // of all free extents
	LargestFreeBytes int64 `json:"largest_free_bytes"` // of the largest: a larger block comes from upstream
	// number i counts extents of at least 1<<i and less than 1<<(i+1) bytes; the last is not 0
	FreeExtents []int64 `json:"free_extents"`
}

// Fragmentation returns how the free memory of the page heap lies, with the strategies that have
// one: bestfit and slab. With others it is zero. Blocks in caches are not free in the heap:
// they count only after FreeHeld, or when a Get needs them. The heap is locked while its free
// extents are counted.
func (p *Pool) Fragmentation() Fragmentation {
	heap, has := heapOf[interface {
		FreeExtents() (bytes, largest int64, bySize []int64)
	}](p.opened())
	if !has {
		return Fragmentation{}
	}
	bytes, largest, bySize := heap.FreeExtents()
	return Fragmentation{FreeBytes: bytes, LargestFreeBytes: largest, FreeExtents: bySize}
}

// heapOf returns the strategy, without a Check in front, if it has a page heap and a T's methods.
func heapOf[T any](p *pool) (heap T, has bool) {
	a := p.strategy
	if c, ok := a.(canaried); ok {
		a = c.strategy
	}
	heap, has = a.(T)
	return heap, has
}
