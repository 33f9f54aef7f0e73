package slab

import (
	"encoding/json"
	"math/bits"
	"strconv"
	"testing"

	"github.com/bufslab/bufslab/internal/replaying"
)

// Every other block goes back: the rest keeps their extents apart, until it goes, too.
func TestFragmentation(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("there are few addresses: extents lie in segments of their own")
	}
	for _, c := range []Config{{Strategy: "bestfit"}, {Strategy: "slab"}, {Strategy: "slab", Check: true}} {
		t.Run(c.String(), func(t *testing.T) {
			off := c
			if !c.Check {
				off.CacheBytes = -1
			}
			p := openPool(t, "mmap", off)
			if f := p.Fragmentation(); f.FreeBytes != 0 || f.LargestFreeBytes != 0 || f.FreeExtents != nil {
				t.Errorf("nothing is managed: %+v", f)
			}
			var kept, gone []PooledBuffer
			for range 8 {
				gone = append(gone, mustGet(t, p, 48<<10))
				kept = append(kept, mustGet(t, p, 4<<10))
			}
			before := append(p.Fragmentation().FreeExtents, make([]int64, 16)...)
			releaseAll(t, gone)
			f := p.Fragmentation()
			if n := f.FreeExtents[15] - before[15]; n != 8 { // 32 to 64 KiB
				t.Errorf("%d extents of 48 KiB more: %d, then %+v", n, before, f)
			}
			checkFragmentation(t, p, f)
			releaseAll(t, kept)
			f = p.Fragmentation()
			if f.LargestFreeBytes != f.FreeBytes || f.FreeBytes != p.Stats().HeldBytes || f.LargestFreeBytes < 8*52<<10 {
				t.Errorf("all is free and lies together, but %+v", f)
			}
			if k := len(f.FreeExtents) - 1; k != bits.Len64(uint64(f.FreeBytes))-1 || f.FreeExtents[k] != 1 {
				t.Errorf("%+v", f)
			}
		})
	}
}

// checkFragmentation compares f with all extents of the heap, where they can be seen.
func checkFragmentation(t *testing.T, p *Pool, f Fragmentation) {
	t.Helper()
	all, seen := extents(p)
	if !seen {
		return
	}
	var want Fragmentation
	counts := map[int]int64{}
	for _, x := range all {
		if x.State == replaying.Free {
			want.FreeBytes += int64(x.Len)
			want.LargestFreeBytes = max(want.LargestFreeBytes, int64(x.Len))
			counts[bits.Len(uint(x.Len))-1]++
		}
	}
	for k, n := range f.FreeExtents {
		if n != counts[k] {
			t.Errorf("%d extents of %d bytes and up, want %d", n, 1<<k, counts[k])
		}
	}
	if f.FreeBytes != want.FreeBytes || f.LargestFreeBytes != want.LargestFreeBytes || counts[len(f.FreeExtents)-1] == 0 {
		t.Errorf("%+v, want %+v", f, want)
	}
}

func TestFragmentationIsZeroWithoutAPageHeap(t *testing.T) {
	for _, s := range []string{"direct", "exact", "bitlog", "sizeclass"} {
		p := openPool(t, "mmap", Config{Strategy: s})
		mustRelease(t, mustGet(t, p, 1<<20))
		if text, err := json.Marshal(p.Fragmentation()); err != nil || string(text) != `{"free_bytes":0,"largest_free_bytes":0,"free_extents":null}` {
			t.Errorf("%s: %s, %v", s, text, err)
		}
	}
}

// The largest free extent is that, whichever of two was freed last.
func TestTheLargestFreeExtent(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("there are few addresses: extents lie in segments of their own")
	}
	for _, last := range []int{0, 1} {
		p := openPool(t, "mmap", Config{Strategy: "bestfit", CacheBytes: -1})
		var between, two []PooledBuffer
		for i := range 2 {
			between = append(between, mustGet(t, p, page))
			two = append(two, mustGet(t, p, 16<<20+i*page)) // of one list
		}
		between = append(between, mustGet(t, p, page))
		mustRelease(t, two[1-last])
		mustRelease(t, two[last])
		f := p.Fragmentation()
		if f.LargestFreeBytes != 16<<20+page {
			t.Errorf("%d bytes: %+v", f.LargestFreeBytes, f)
		}
		checkFragmentation(t, p, f)
		releaseAll(t, between)
	}
}
