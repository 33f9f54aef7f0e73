package fuzz_test

import (
	"strings"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/fuzz"
	"github.com/bufslab/bufslab/growpool"
	"github.com/bufslab/bufslab/slab"
)

// A modelOf runs a program on a model. The program draws what it runs on.
type modelOf struct {
	name    string
	program func(*rapid.T)
}

// models are all that there are.
var models = []modelOf{
	{"allocators", allocatorProgram},
	{"pools", poolProgram},
	{"keyed", keyedProgram},
	{"unified", unifiedProgram},
	{"references", referenceProgram},
	{"devices", deviceProgram},
	{"buffers", func(t *rapid.T) { bufferProperty(hosted(t))(t) }},
	{"arenas", func(t *rapid.T) { arenaProperty(hosted(t))(t) }},
}

var modelDevices = []string{"", "heap", "mmap", "mmap:fixed", "virtual", "sim", "sim:late=1", "sim:late=2", "sim:late=1:pinned"}

// settings are parts of a line of configuration. Those that abort a program, or hold time or
// blocks back where the models look, are not among them.
var settings = []string{
	"max_held=0", "max_held=20KiB", "max_held=40KiB", "max_held_blocks=3", "max_held_blocks=0", "max_block_bytes=4KiB",
	"max_bytes=160KiB", "max_bytes=1MiB", "cache_bytes=0", "cache_bytes=8KiB", "align=8", "align=64", "bits=2", "steps=8",
	"miss_target=0.5", "reserve=8KiB", "on_forget=free", "on_forget=report", "zero=true", "check=true",
	"record_last=100", "profile_rate=4KiB", "overflow=make",
}

// drawConfig draws a Config with up to five settings of those that its strategy has. The
// first of each counts.
func drawConfig(t *rapid.T) slab.Config {
	line := "strategy=" + rapid.SampledFrom(slab.Strategies()).Draw(t, "strategy")
	c, _ := slab.ParseConfig(line)
	for range rapid.IntRange(0, 5).Draw(t, "settings") {
		more := line + "," + rapid.SampledFrom(settings).Draw(t, "setting")
		if next, err := slab.ParseConfig(more); err == nil {
			line, c = more, next
		}
	}
	if c.Strategy == "pile" {
		c.Align = 0 // the example's does not look at it
	}
	c.GCTrigger = -1
	return c
}

// overflowOn is the Overflow of c for a device, none where make has no such memory.
func overflowOn(dev string, c slab.Config) string {
	if dev == "" || dev == "heap" || strings.HasPrefix(dev, "mmap") {
		return c.Overflow
	}
	return ""
}

// promises are the options that go with a Config.
func promises(c slab.Config, dev string) (o []fuzz.Option) {
	if dev != "" {
		o = append(o, fuzz.OnDevice(opener(dev)))
	}
	if c.Zero {
		o = append(o, fuzz.Zeroed())
	}
	if c.MaxBytes > 0 {
		o = append(o, fuzz.MaxBytes(c.MaxBytes))
	}
	return append(o, fuzz.Align(max(1, c.Align)), fuzz.Hostile())
}

// layers may stand below a pool, or before a strategy.
var layers = []struct {
	name string
	on   factory
}{
	{"none", func(u slab.Allocator) slab.Allocator { return u }},
	{"limit", func(u slab.Allocator) slab.Allocator { return slab.NewLimit(u, 300<<10) }},
}

func drawLayer(t *rapid.T) factory {
	return layers[rapid.IntRange(0, len(layers)-1).Draw(t, "layer")].on
}

func poolProgram(t *rapid.T) {
	c, dev, layer := drawConfig(t), rapid.SampledFrom(modelDevices).Draw(t, "device"), drawLayer(t)
	if c.Zero && dev == "virtual" {
		dev = "" // there is nothing to clear
	}
	c.Overflow = overflowOn(dev, c)
	fuzz.PoolProperty(func(u slab.Allocator) (*slab.Pool, error) { return slab.Open(layer(u), c) }, promises(c, dev)...)(t)
}

func allocatorProgram(t *rapid.T) {
	c, dev, layer := drawConfig(t), rapid.SampledFrom(modelDevices).Draw(t, "device"), drawLayer(t)
	c = slab.Config{Bits: c.Bits, Steps: c.Steps, Align: c.Align, Strategy: c.Strategy, MissTarget: c.MissTarget,
		MaxHeld: c.MaxHeld, MaxHeldBlocks: c.MaxHeldBlocks, MaxBlockBytes: c.MaxBlockBytes}
	if c.Strategy == "pile" { // the example's neither counts what devices round nor trims
		dev, layer = "", layers[0].on
	}
	fuzz.AllocatorProperty(func(u slab.Allocator) slab.Allocator { return layer(with(c.Strategy, c)(u)) }, promises(c, dev)...)(t)
}

func keyedProgram(t *rapid.T) {
	c := growpool.Config{
		Growth:  []growpool.Growth{nil, growpool.Pow2, growpool.Factor(1.5), growpool.Steps(16)}[rapid.IntRange(0, 3).Draw(t, "growth")],
		Private: rapid.Bool().Draw(t, "private"),
	}
	options := promises(slab.Config{}, rapid.SampledFrom([]string{"", "heap", "mmap"}).Draw(t, "device"))
	if c.MaxBytes = rapid.SampledFrom([]int64{0, 10_000, 1 << 20}).Draw(t, "budget"); c.MaxBytes > 0 {
		options = append(options, fuzz.MaxBytes(c.MaxBytes), fuzz.Capacity(1<<30))
	}
	fuzz.GrowPoolProperty(growing(c), options...)(t)
}

func unifiedProgram(t *rapid.T) {
	var options []fuzz.Option
	kind := rapid.IntRange(0, 2).Draw(t, "buffers")
	switch kind {
	case 1:
		options = append(options, fuzz.Buffers(onSlabPools))
	case 2:
		options = append(options, fuzz.Buffers(pinned))
	}
	open := slow
	switch n := rapid.IntRange(0, 8).Draw(t, "device"); {
	case n < 2 && kind < 2: // they have no page-locked memory
		open = opener([]string{"heap", "mmap"}[n])
	case n < 8:
		open = late(uint64(n))
	}
	fuzz.UnifiedProperty(open, options...)(t)
}

func deviceProgram(t *rapid.T) {
	name := rapid.SampledFrom(append([]string{"virtual:200KiB", "sim:200KiB", "sim:pinned"}, modelDevices[1:]...)).Draw(t, "device")
	fuzz.DeviceProperty(opener(name))(t)
}

// hosted draws a Config of memory that the CPU reaches.
func hosted(t *rapid.T) slab.Config {
	c := drawConfig(t)
	c.Device = rapid.SampledFrom([]string{"heap", "mmap", "mmap:fixed", "sim:pinned"}).Draw(t, "device")
	c.Overflow = overflowOn(c.Device, c)
	return c
}
