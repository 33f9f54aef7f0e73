package fuzz_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz"
)

func opener(name string) func() (device.Device, error) {
	return func() (device.Device, error) { return device.Open(name) }
}

func TestDevices(t *testing.T) {
	for _, name := range []string{"heap", "mmap", "mmap:fixed", "virtual", "virtual:200KiB", "sim", "sim:200KiB", "sim:late=1", "sim:pinned"} {
		t.Run(name, func(t *testing.T) { fuzz.CheckDevice(t, opener(name)) })
	}
}

// FuzzDevice lets the fuzzer choose the program that runs on three devices of
// different kinds.
func FuzzDevice(f *testing.F) {
	properties := []func(*rapid.T){
		fuzz.DeviceProperty(opener("heap")),
		fuzz.DeviceProperty(opener("sim:200KiB")),
		fuzz.DeviceProperty(opener("virtual:200KiB")),
	}
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		rapid.SampledFrom(properties).Draw(t, "device")(t)
	}))
}
