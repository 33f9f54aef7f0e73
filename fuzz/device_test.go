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

// A place is a region that is an address and a length: the next one there is equal.
type place struct{ at, size int }

func (p place) Size() int { return p.size }

// A device of places has addresses alone, and hands out the lowest.
type places struct {
	device.Device // without memory
	out           map[int]device.Block
}

func (d *places) Alloc(size int) (device.Block, error) {
	if size <= 0 {
		return d.Device.Alloc(size)
	}
	at := 0
	for d.out[at] != (device.Block{}) {
		at++
	}
	d.out[at] = device.Block{Region: place{at, size}, Len: size}
	return d.out[at], nil
}

func (d *places) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	p := b.Region.(place)
	if d.out[p.at] != b {
		panic("not out")
	}
	delete(d.out, p.at)
}

func (d *places) Copy(device.Block, device.Block) error { return device.ErrUnavailable }

// A block that was freed may be equal to one that is out: to free that is no mistake.
func TestADeviceOfPlaces(t *testing.T) {
	fuzz.CheckDevice(t, func() (device.Device, error) {
		d, err := device.Open("virtual")
		return &places{d, map[int]device.Block{}}, err
	})
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
