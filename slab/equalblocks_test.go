package slab

import (
	"fmt"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/blocktable"
)

// Equal large blocks take what they need, and what is left of a capacity or a budget can be
// had as one block: where regions cannot grow in place, and on ranges that commit. go test -v
// prints a table.
func TestEqualBlocksTakeWhatTheyNeed(t *testing.T) {
	atLength(t)
	large := []int{1 << 20, 40 << 20, 100 << 20}
	if maxInt>>40 == 0 {
		large = large[:1] // addresses are few where an int has 32 bits
	}
	for _, c := range []struct {
		line  string // of which %d is the capacity
		sizes []int
	}{
		{"device=sim:%d", large},
		{"device=virtual:fixed,%d,strategy=bestfit", large},
		{"device=mmap:fixed,max_bytes=%d", large},
		{"device=virtual,max_bytes=%d", large},
		{"device=virtual,max_bytes=%d,strategy=bestfit", []int{1 << 20, 40_000_000}},
		{"device=sim:%d,strategy=bestfit", []int{300_001, 1<<20 + 1}},
		{"device=sim:pinned,max_bytes=%d", []int{100_001, 1 << 20}},
	} {
		t.Run(c.line, func(t *testing.T) {
			blocktable.Run(t, c.sizes, func(capacity int64) blocktable.Pool {
				p := openLine(t, fmt.Sprintf(c.line, capacity))
				t.Cleanup(func() { p.Close() })
				return tableOf(p)
			})
		})
	}
}

// However many equal large blocks there are, from three on, and whether a small one was got before
// them or not, on a range that commits they take at most 1.05 of their bytes.
func TestEqualBlocksTakeLittleAtEachCount(t *testing.T) {
	sizes := []int{2 << 20, 5_000_000, 8 << 20, 40_000_000, 100 << 20}
	if maxInt>>40 == 0 {
		sizes = sizes[:3] // addresses are few where an int has 32 bits
	}
	for _, line := range []string{"device=virtual", "device=virtual,cache_bytes=0", "device=virtual,strategy=bestfit"} {
		for _, size := range sizes {
			for _, first := range []int{0, 1000} {
				worst := func(sizes ...int) float64 {
					p := openLine(t, line)
					t.Cleanup(func() { _ = p.Close() })
					return blocktable.Worst(t, tableOf(p), first, sizes...)
				}
				if got := worst(size); got > 1.05 {
					t.Errorf("%s: blocks of %d bytes after one of %d: %.3f of what is live", line, size, first, got)
				}
				if got := worst(size, size/2); got < 1.2 {
					t.Errorf("%s: two sizes of blocks, %d and half: %.3f, so nothing was measured", line, size, got)
				}
			}
		}
	}
}

func tableOf(p *Pool) blocktable.Pool {
	return blocktable.Pool{
		Get: func(size int) (func(), error) {
			b, err := p.Get(size)
			return func() { _ = b.Release() }, err
		},
		Managed: func() int64 { return p.Stats().ManagedBytes },
	}
}

// Small blocks of page-locked memory share regions, but none is larger than it must be.
func TestPageLockedMemoryHasNoHeadRoom(t *testing.T) {
	d, err := openDevice(t, "sim").(device.Pinner).Pinned()
	if err != nil {
		t.Fatal(err)
	}
	p := mustOpen(t, d, Config{Strategy: "slab", CacheBytes: -1})
	const inRegion = 64 << 10 / 10_000
	for i := range 1000 {
		mustGet(t, p, 10_000)
		if n := p.Stats().ManagedBytes; n > int64(i/inRegion+1)<<16 {
			t.Fatalf("%d bytes for %d blocks of 10,000", n, i+1)
		}
	}
	if s := p.Stats(); s.UpstreamAllocs > 200 {
		t.Errorf("%d calls upstream for 1,000 blocks", s.UpstreamAllocs)
	}
}
