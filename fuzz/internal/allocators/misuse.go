package allocators

import (
	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/draw"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/internal/upstreamtest"
)

// misuse frees what is not out. That has to panic. The invariant sees that it
// has changed nothing, and the next steps that no lock is left held.
func (m *allocatorModel) misuse(t *rapid.T) {
	b := m.drawNotOut(t)
	for _, o := range m.live {
		if o.block == b {
			m.Skip(t, "that one is out")
		}
	}
	before := m.Up.Accounts()
	if !model.Panics(func() { m.strategy.Free(b) }) {
		t.Fatalf("Free of a block that is not out, %d bytes at offset %d, did not panic", b.Len, b.Off)
	}
	if now := m.Up.Accounts(); now != before {
		t.Fatalf("Free of a block that is not out went upstream: %+v, before %+v", now, before)
	}
}

// drawNotOut draws a block that was freed, that never existed, or that differs in
// a detail from one that is out.
func (m *allocatorModel) drawNotOut(t *rapid.T) device.Block {
	kind := rapid.SampledFrom([]string{"freed", "foreign", "altered"}).Draw(t, "kind")
	switch {
	case kind == "freed" && len(m.freed) > 0:
		return rapid.SampledFrom(m.freed).Draw(t, "block")
	case kind == "altered" && len(m.live) > 0:
		return drawAltered(t, m.live[m.pick(t)].block)
	}
	foreign := upstreamtest.Block(m.Size(t))
	upstreamtest.RegionOf(foreign).Mem = make([]byte, foreign.Len)
	return foreign
}

// drawAltered draws a block that is nearly b.
func drawAltered(t *rapid.T, b device.Block) device.Block {
	change := rapid.SampledFrom([]int{1, -1, 16, -16, 64, 1 << 20, draw.MaxInt / 2}).Draw(t, "change")
	switch rapid.SampledFrom([]string{"off", "len", "both", "empty", "no region"}).Draw(t, "alter") {
	case "off":
		b.Off += change
	case "len":
		b.Len += change
	case "both": // a part of it
		n := rapid.IntRange(0, b.Len-1).Draw(t, "less")
		b.Off, b.Len = b.Off+n, b.Len-n
	case "empty":
		b.Len = 0
	case "no region":
		b.Region = nil
	}
	return b
}
