package slab

import (
	"os"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/upstreamtest"
)

func TestOnlyDevicesAndWhatPassesThemOnHaveRegionsOfTheirOwn(t *testing.T) {
	d := upstreamtest.Device{Source: &source{}}
	for _, c := range []struct {
		a    Allocator
		want bool
	}{
		{d, true}, {NewLimit(d, 1), true}, {pass(NewLimit(d, 1)), true},
		{&source{}, false}, {NewLimit(&source{}, 1), false}, {holderOn("exact", d, Config{}), false}, {checkOn(d), false},
	} {
		if ownsRegions(c.a) != c.want {
			t.Errorf("%T: %v", c.a, !c.want)
		}
		if own := deviceOf(c.a) == device.Device(d); own != c.want {
			t.Errorf("%T: its device is %v", c.a, deviceOf(c.a))
		}
	}
	if account(d, 16, nil).OwnsRegions() != true || account(&source{}, 16, nil).OwnsRegions() {
		t.Error("the accounting knows something else")
	}
}

// A region is a multiple of the device's grain, and of a byte where none is known.
func TestGrainOfAnUpstream(t *testing.T) {
	mmap := openDevice(t, "mmap")
	for _, c := range []struct {
		a    Allocator
		want int
	}{{mmap, os.Getpagesize()}, {NewLimit(mmap, 1), os.Getpagesize()}, {openFussy(t, 1, false), 1}, {&source{}, 1}, {NewLimit(&source{}, 1), 1}} {
		if n := grainOf(c.a); n != c.want {
			t.Errorf("%T: %d, want %d", c.a, n, c.want)
		}
	}
}

// A block of a foreign upstream is verified once, as a pool stacks its layers.
func TestABlockIsVerifiedOnceInAPool(t *testing.T) {
	r := upstreamtest.NewRegion(1 << 20)
	up := &upstreamtest.Fixed{Block: device.Block{Region: r, Len: 1000}}
	on := account(newLimit(up, 1<<20, 16), 16, func(device.Region) func() { return func() {} })
	s := newStrategy(on.Checked(), Config{Strategy: "exact"}.withDefaults(), front{})
	if mustAlloc(t, s, 1000); r.Measured.Load() != 1 {
		t.Errorf("its region was measured %d times", r.Measured.Load())
	}
}
