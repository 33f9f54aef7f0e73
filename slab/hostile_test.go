package slab

import (
	"fmt"
	"testing"
)

// Systems have pages of 4 KiB to 64 KiB, and large ones of 2 MiB: whatever ranges are
// committed in, pools commit whole pages, once, and give all back.
func TestPagesOfEverySize(t *testing.T) {
	if maxInt>>40 == 0 {
		t.Skip("ranges are 64 MiB of the Go heap each, which has not as many where an int has 32 bits")
	}
	for _, page := range []int{4 << 10, 16 << 10, 64 << 10, 2 << 20} {
		for _, strategy := range []string{"bestfit", "slab"} {
			t.Run(fmt.Sprintf("%s/%d", strategy, page), func(t *testing.T) {
				t.Parallel()
				up := &pages{PageBytes: page, RangeBytes: 64 << 20}
				up.Host = true
				p := mustOpen(t, up, Config{Strategy: strategy})
				stress(t, p, 4_000)
				if err := p.Close(); err != nil {
					t.Error(err)
				}
				if up.Bytes != 0 || up.Open != 0 {
					t.Errorf("%d bytes and %d ranges are left", up.Bytes, up.Open)
				}
			})
		}
	}
}
