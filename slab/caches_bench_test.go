package slab

import (
	"fmt"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/internal/replaying"
)

// BenchmarkCaches does what looks at all caches, or empties them, in a pool whose processors have 32 buffers of each of
// four sizes in their caches. So it says what 64 processors cost, on a machine that has fewer.
func BenchmarkCaches(b *testing.B) {
	for _, call := range []struct {
		name    string
		empties bool
		do      func(p *Pool)
	}{
		{"Stats", false, func(p *Pool) { p.Stats() }},
		{"Trim", false, func(p *Pool) { p.Trim(1 << 20) }},
		{"FreeHeld", true, func(p *Pool) { p.FreeHeld() }},
		{"reclaim", true, func(p *Pool) { p.pool.emptyCaches() }},
		{"pressure", true, func(p *Pool) { pressed{p.pool}.GiveBack(1<<40, false, "a test") }},
	} {
		for _, processors := range []int{2, 64} {
			b.Run(fmt.Sprintf("%s/processors=%d", call.name, processors), func(b *testing.B) {
				p := openPool(b, "mmap", Config{})
				m, err := replaying.Reopen(p, processors)
				check.Must(b, err)
				fill := func() {
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
				}
				fill()
				for b.Loop() {
					call.do(p)
					if call.empties {
						b.StopTimer()
						fill()
						b.StartTimer()
					}
				}
			})
		}
	}
}
