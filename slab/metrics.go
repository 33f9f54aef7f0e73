package slab

import (
	"iter"
)

// A Metric is a figure of a pool as monitoring systems want it.
type Metric struct {
	Name  string // such as bufslab_held_bytes; a Counter's ends in _total
	Help  string // a sentence
	Unit  string // bytes, seconds, or "" for a number of things
	Kind  Kind
	Value float64
}

// Metrics returns every field of Stats as a metric, in their order, read together when the
// loop begins. Label them with [Pool.Name], as all pools have the same.
//
// A counter is at least what an earlier loop has shown, also where a field of Stats has
// fallen, as Hits can beside a Get: else a monitoring system would take the pool for
// restarted.
func (p *Pool) Metrics() iter.Seq[Metric] {
	q := p.opened()
	return func(yield func(Metric) bool) {
		for i, v := range q.counted.floors.raise(q.stats().withoutDebts()) {
			if !yield(statFields[i].metric(v)) {
				return
			}
		}
	}
}

// Fragmentation says how the free memory of a page heap lies. It is not in Stats, as it
// takes a look at each free extent.
type Fragmentation struct {
	FreeBytes        int64   `json:"free_bytes"`         // of all free extents
	LargestFreeBytes int64   `json:"largest_free_bytes"` // of the largest: a larger block comes from upstream
	FreeExtents      []int64 `json:"free_extents"`       // number i counts those of 1<<i bytes up to twice as many; the last is not 0
}

// Fragmentation returns how the free memory lies of strategies that cut blocks from a page
// heap: bestfit, slab and plan. Of others it is zero. What caches hold is not free there: it
// counts after FreeHeld only, or when a Get needs it. The heap is locked while its free
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
	b, _ := a.(numberedBuiltin)
	heap, has = b.Strategy.(T)
	return heap, has
}
