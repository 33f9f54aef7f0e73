package unified_test

import (
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
)

// A leak by way of unified is that of the program's line, not of one of unified.
func TestLeaksAreOfTheCallersLine(t *testing.T) {
	host, dev := slabOn(t, heap(t), slab.Config{Strict: true}), slabOn(t, sim.New(64<<20), slab.Config{Strict: true})
	p := unified.NewPoolOn(host, dev, unified.PoolConfig{})
	b := check.Ok(unified.Acquire[byte](p, 1000))(t)
	bothSides(t, b)
	for _, side := range []*slab.Pool{host, dev} {
		leaks := side.Leaks()
		if len(leaks) != 1 || !strings.Contains(leaks[0].Site, "_test.go:") {
			t.Errorf("%+v", leaks)
		}
	}
	check.Must(t, b.Release())
	p.Clear()
}
