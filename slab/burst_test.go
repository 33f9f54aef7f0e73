package slab

import (
	"runtime"
	"testing"

	"github.com/bufslab/bufslab/internal/pin"
)

// What a burst has left in the caches goes back beside a steady load of the same size, with
// every strategy and device. On one processor, as each has caches of its own.
func TestTrimGivesBackWhatABurstLeft(t *testing.T) {
	const size, blocks = 100 << 10, 40
	everyStack(t, func(t *testing.T, dev string, c Config) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		p := openPool(t, dev, c)
		var live []PooledBuffer
		for range blocks {
			live = append(live, mustGet(t, p, size))
		}
		for _, b := range live {
			mustRelease(t, b)
		}
		for range 12 {
			mustRelease(t, mustGet(t, p, size))
			p.Trim(2)
		}
		holds := c.Strategy != "direct" && pin.Exclusive // else processors change their caches now and then
		if s := p.Stats(); s.ManagedBytes > 4*size || holds && s.Misses > blocks {
			t.Errorf("%d bytes are kept for %d in use, %d misses", s.ManagedBytes, size, s.Misses)
		}
	})
}
