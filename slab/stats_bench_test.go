package slab

import (
	"fmt"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/internal/replaying"
)

// BenchmarkStats reads Stats of a pool whose processors have 32 buffers of each of four sizes in their caches.
func BenchmarkStats(b *testing.B) {
	for _, processors := range []int{2, 64} {
		b.Run(fmt.Sprintf("processors=%d", processors), func(b *testing.B) {
			p := openPool(b, "mmap", Config{})
			m, err := replaying.Reopen(p, processors)
			check.Must(b, err)
			for i := range processors {
				m.RunOn(i)
				for _, size := range []int{200, 1500, 16 << 10, 64 << 10} {
					var out []PooledBuffer
					for range 32 {
						out = append(out, mustGet(b, p, size))
					}
					releaseAll(b, out)
				}
			}
			for b.Loop() {
				p.Stats()
			}
		})
	}
}
