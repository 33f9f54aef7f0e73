package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
)

// Results are right on a device whose streams end late and overtake each other, no memory is
// freed before its work is done, and none is left.
func TestResultsOfALateDevice(t *testing.T) {
	for _, v := range variants {
		for seed := range uint64(5) {
			d := sim.New(1 << 30)
			d.Costs(costs)
			d.Late(seed)
			if err := v.send(d, randomSizes(20, largest/16)); err != nil {
				t.Errorf("%s, seed %d: %v", v.name, seed, err)
			}
			if s := d.Stats(); s.UsedAfterFree+s.ActiveBlocks+s.PinnedBlocks != 0 {
				t.Errorf("%s, seed %d: %+v", v.name, seed, s)
			}
		}
	}
}

// Each variant takes less time than the one before it.
func TestEachVariantIsFaster(t *testing.T) {
	sizes := randomSizes(40, largest)
	last := sim.New(1 << 30)
	last.Advance(1 << 62)
	for _, v := range variants {
		d := sim.New(1 << 30)
		d.Costs(costs)
		if err := v.send(d, sizes); err != nil {
			t.Fatal(err)
		}
		if d.Clock() >= last.Clock() {
			t.Errorf("%s takes %v, the variant before %v", v.name, d.Clock(), last.Clock())
		}
		last = d
	}
}

func TestRun(t *testing.T) {
	if err := run(io.Discard, randomSizes(3, largest/16)); err != nil {
		t.Error(err)
	}
}

// A device is taken by its name, and without kernels the batches come back as they went.
func TestADeviceByItsName(t *testing.T) {
	var out strings.Builder
	if err := runOn(&out, "sim:64MiB", randomSizes(3, largest/16)); err != nil || strings.Count(out.String(), "\n") != 2+len(variants) {
		t.Errorf("%v: %s", err, &out)
	}
	if err := runOn(io.Discard, "heap", nil); err == nil {
		t.Error("the heap has page-locked memory")
	}
	if err := runOn(io.Discard, "none", nil); !errors.Is(err, device.ErrUnavailable) {
		t.Error(err)
	}
}
