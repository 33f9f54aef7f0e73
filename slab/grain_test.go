package slab

import (
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
)

// A budget that is no multiple of the page holds all the same, and is not
// exceeded while it is found out.
func TestMaxBytesCountsWholePages(t *testing.T) {
	for _, s := range Strategies() {
		p := openPool(t, "mmap", Config{Strategy: s, MaxBytes: 150_001, CacheBytes: -1})
		for n := 1; n < 150_000; n += 997 {
			if b, err := p.Get(n); err == nil {
				b.Release()
			}
		}
		if s := p.Stats(); s.PeakManagedBytes > 150_001 {
			t.Errorf("peak %d", s.PeakManagedBytes)
		}
	}
	d, _ := device.Open("mmap")
	l := NewLimit(d, 4096+4095)
	b := mustAlloc(t, l, 1)
	if _, err := l.Alloc(1); !outOfMemory(err) {
		t.Errorf("two pages of a budget of less: %v", err)
	}
	l.Free(b)
}

// The heap gives what strategies that align need.
func TestHeapAlignsAsFarAsAPage(t *testing.T) {
	for _, s := range []string{"sizeclass", "bestfit", "slab"} {
		for align := 16; align <= 4096; align *= 4 {
			p := openPool(t, "heap", Config{Strategy: s, Align: align})
			for _, n := range []int{1, 100, 2161, 5000, 33 << 10, 100_001, 1 << 20} {
				b := mustGet(t, p, n)
				if a := uintptr(unsafe.Pointer(unsafe.SliceData(b.Bytes()))); a%uintptr(align) != 0 {
					t.Errorf("%s: %d bytes at %#x, want a multiple of %d", s, n, a, align)
				}
				defer b.Release()
			}
		}
	}
}
