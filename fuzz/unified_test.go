package fuzz_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/fuzz"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
)

// late opens simulated devices whose streams work late.
func late(seed uint64) func() (device.Device, error) {
	return func() (device.Device, error) {
		d := sim.New(1 << 20)
		d.Late(seed)
		return d, nil
	}
}

// slow opens simulated devices that take a microsecond for a byte.
func slow() (device.Device, error) {
	d := sim.New(1 << 20)
	d.Costs(sim.Costs{ToDevice: 1e6, ToHost: 1e6, Within: 1e6, Pageable: 1e6})
	return d, nil
}

func pinned(d device.Device, n int) (fuzz.UnifiedBuffer, error) { return unified.NewPinned[byte](d, n) }

// onSlabPools has each buffer of a Pool on a slab.Pool of its own: they give back for each
// other on one device, and the Pool is forgotten at once.
func onSlabPools(d device.Device, n int) (fuzz.UnifiedBuffer, error) {
	dev, err := slab.Open(d, slab.Config{Strategy: "exact"})
	if err != nil {
		return nil, err
	}
	return unified.Acquire[byte](unified.NewPoolOn(nil, dev, unified.PoolConfig{}), n)
}

func TestUnified(t *testing.T) {
	for _, name := range []string{"sim", "heap", "mmap"} {
		t.Run(name, func(t *testing.T) { fuzz.CheckUnified(t, opener(name)) })
	}
	t.Run("slow", func(t *testing.T) { fuzz.CheckUnified(t, slow) })
	t.Run("slow,pinned", func(t *testing.T) { fuzz.CheckUnified(t, slow, fuzz.Buffers(pinned)) })
	t.Run("late,pinned", func(t *testing.T) { fuzz.CheckUnified(t, late(9), fuzz.Buffers(pinned)) })
	t.Run("late,slab pools", func(t *testing.T) { fuzz.CheckUnified(t, late(11), fuzz.Buffers(onSlabPools)) })
	for seed := range uint64(4) {
		t.Run(fmt.Sprintf("late,%d", seed), func(t *testing.T) { fuzz.CheckUnified(t, late(seed)) })
	}
}

// A test of a device shows whether arrays can live on it.
func ExampleCheckUnified() {
	_ = func(t *testing.T) { // func TestUnifiedOnMine(t *testing.T)
		fuzz.CheckUnified(t, func() (device.Device, error) { return device.Open("sim:1MiB:late=1") })
	}
}

// A device without contents is no device to copy to.
func TestUnifiedSkips(t *testing.T) {
	skipped := false
	t.Run("virtual", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		fuzz.CheckUnified(t, opener("virtual"))
	})
	if !skipped {
		t.Error("a device without contents was checked")
	}
}

// FuzzUnified lets the fuzzer choose the program.
func FuzzUnified(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(fuzz.UnifiedProperty(late(1))))
}
