package slab

import (
	"fmt"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/blocktable"
)

// Where regions cannot grow in place, equal large blocks take what they need, and what
// is left of a capacity or a budget can be had as one block. go test -v prints a table.
func TestEqualBlocksTakeWhatTheyNeed(t *testing.T) {
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
