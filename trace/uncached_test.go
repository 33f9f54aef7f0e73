package trace

import (
	"strings"
	"testing"
)

// What a processor's cache serves is not counted as uncached; without caches all is.
func TestUncachedAllocsAreThoseThatNoCacheHasServed(t *testing.T) {
	tr := read(t, "op,id,size\n"+strings.Repeat("a,0,1000\nf,0,\n", 1000))
	for line, want := range map[string][2]int64{
		"device=virtual,strategy=slab":               {1, 50},
		"device=virtual,strategy=slab,cache_bytes=0": {1000, 1000},
		"device=virtual,strategy=exact":              {1000, 1000},
	} {
		if r, err := Replay(tr, open(t, line)); err != nil || r.UncachedAllocs < want[0] || r.UncachedAllocs > want[1] {
			t.Errorf("%s: %d uncached of %d, want %d; %v", line, r.UncachedAllocs, r.Allocs, want, err)
		}
	}
}
