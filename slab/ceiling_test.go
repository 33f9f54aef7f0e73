package slab

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// A ceiling has no more than so many regions out at a time, whatever their size, as Vulkan and Metal do.
type ceiling struct {
	source
	most int64
}

func (c *ceiling) Alloc(size int) (device.Block, error) {
	if c.Out() >= c.most {
		return device.Block{}, fmt.Errorf("a ceiling of %d regions: %w", c.most, device.ErrOutOfMemory)
	}
	return c.source.Alloc(size)
}

// cuts says which strategies cut many buffers from a region; the others take one for each.
var cuts = map[string]bool{"slab": true, "bestfit": true, "sizeclass": true}

// Strategies that cut regions take few of them for many buffers (dryvist/nix-ai#1160).
func TestFewRegionsForManyBuffers(t *testing.T) {
	const n = 4000
	for _, s := range []string{"slab", "bestfit", "sizeclass", "exact", "direct", "bitlog"} {
		up := &source{}
		p := mustOpen(t, up, Config{Strategy: s})
		r := rand.New(rand.NewPCG(1, 2))
		var out []PooledBuffer
		for range n {
			out = append(out, mustGet(t, p, 256+r.IntN(3841)))
		}
		if few := up.Out() < n/20; few != cuts[s] || !few && up.Out() != n {
			t.Errorf("%s: %d regions for %d buffers", s, up.Out(), n)
		}
		releaseAll(t, out)
	}
}

// At a ceiling the error says what failed, and what was given back serves again.
func TestACeilingOfRegions(t *testing.T) {
	const most, size = 20, 1000
	for _, s := range []string{"slab", "bestfit", "sizeclass", "exact", "direct", "bitlog"} {
		up := &ceiling{most: most}
		p := mustOpen(t, up, Config{Strategy: s})
		var out []PooledBuffer
		b, err := p.Get(size)
		for ; err == nil; b, err = p.Get(size) {
			out = append(out, b)
		}
		var full *OutOfMemoryError
		if !errors.As(err, &full) || !strings.Contains(err.Error(), "a ceiling of 20 regions") {
			t.Errorf("%s: %v", s, err)
		}
		if many := len(out) > 50*most; many != cuts[s] || !many && len(out) != most {
			t.Errorf("%s: %d buffers in %d regions", s, len(out), up.Out())
		}
		mustRelease(t, out[0])
		out[0] = mustGet(t, p, size)
		releaseAll(t, out)
	}
}
