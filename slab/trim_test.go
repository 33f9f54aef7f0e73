package slab

import "testing"

// What goes upstream because a cache lets go of it counts like the rest.
func TestTrimCountsWhatLeavesTheCaches(t *testing.T) {
	p := openPool(t, "heap", Config{Strategy: "sizeclass"})
	mustGet(t, p, 40<<10).Release()
	p.c.strategy.(Holder).StopHolding() // but the caches go on
	had := p.Stats().ManagedBytes
	if n, left := p.Trim(0), p.Stats().ManagedBytes; had == 0 || n != had-left {
		t.Errorf("Trim(0) = %d, of %d bytes %d are left", n, had, left)
	}
}
