package fuzz

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
)

// CheckDevice runs random programs on devices that open makes, a new one for
// each program: blocks are allocated, written by the CPU or by Copy, copied
// among each other, discarded in part and freed, ranges are committed and
// decommitted; several streams have work on them under way and wait for each other by events. What every byte must hold is known throughout. A device
// without contents, or without ranges, is checked for the rest. Where open
// says that the device is not there, t is skipped.
func CheckDevice(t *testing.T, open func() (device.Device, error)) {
	t.Helper()
	d, err := open()
	if errors.Is(err, device.ErrUnavailable) {
		t.Skipf("the device is not there: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = d.Close()
	rapid.Check(t, DeviceProperty(open))
}

// DeviceProperty is the property behind [CheckDevice], for a native fuzz target:
//
//	func FuzzDevice(f *testing.F) { f.Fuzz(rapid.MakeFuzz(fuzz.DeviceProperty(open))) }
func DeviceProperty(open func() (device.Device, error)) func(*rapid.T) {
	return func(t *rapid.T) {
		d, err := open()
		ok(t, err)
		heap, err := device.Open("heap")
		ok(t, err)
		m := &deviceModel{dev: d, heap: heap}
		defer m.close(t)
		m.contents = m.hasContents(t)
		m.reserve(t)
		t.Repeat(map[string]func(*rapid.T){
			"":             m.check,
			"alloc":        m.alloc,
			"free":         m.free,
			"write":        m.write,
			"poke":         m.poke,
			"copy":         m.copy,
			"fill":         m.fill,
			"discard":      m.discard,
			"commit":       m.commit,
			"decommit":     m.decommit,
			"misuse":       m.misuse,
			"enqueueFill":  m.enqueueFill,
			"enqueueWrite": m.enqueueWrite,
			"enqueueCopy":  m.enqueueCopy,
			"settle":       m.settle,
			"poll":         m.poll,
		})
	}
}

// ok fails the program at an error that no step expects.
func ok(t *rapid.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
