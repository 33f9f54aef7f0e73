package fuzz

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz/internal/model"
	"github.com/bufslab/bufslab/fuzz/internal/unifiedbuffers"
	"github.com/bufslab/bufslab/unified"
)

// A UnifiedBuffer is what [CheckUnified] checks: a *unified.Buffer[byte], or what behaves like one. If it has a View
// as that one does, views are checked too.
type UnifiedBuffer = unifiedbuffers.Buffer

// CheckUnified runs random programs on unified buffers over devices that open
// makes, a new one for each program. Both sides are read, written, overwritten,
// synchronized and marked, whole and in part, directly and on streams, in every
// state; buffers are freed while streams use them. What the contents must be is
// known throughout: no read gives anything else without an error, no write is
// lost unless the buffer said that it conflicts.
//
// On a [sim.Device] copies, fills and allocations fail, and the device is lost:
// what fails changes nothing, the host side stays readable, and what a stream
// did not do shows as an error. As long as nothing has failed, its counters
// have to agree with the fewest bytes and calls that the program can do with. A
// device that works late finds waits that are missing. Where open says that the
// device is not there, or that it has no contents, t is skipped.
func CheckUnified(t *testing.T, open func() (device.Device, error), options ...Option) {
	t.Helper()
	if err := probe(open); errors.Is(err, device.ErrUnavailable) {
		t.Skipf("the device is not there, or has no contents: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	model.Check(t, UnifiedProperty(open, options...))
}

// probe returns the error of a device, or of a byte that is copied to it.
func probe(open func() (device.Device, error)) error {
	d, err := open()
	if err != nil {
		return err
	}
	defer d.Close()
	b, err := unified.New[byte](d, 1)
	if err != nil {
		return err
	}
	return errors.Join(b.Fill(1), b.SyncToDevice(), b.Free())
}

// UnifiedProperty is the property behind [CheckUnified], for a native fuzz
// target:
//
//	func FuzzUnified(f *testing.F) { f.Fuzz(rapid.MakeFuzz(fuzz.UnifiedProperty(open))) }
func UnifiedProperty(open func() (device.Device, error), options ...Option) func(*rapid.T) {
	buffer := settle(options).buffers
	if buffer == nil {
		buffer = func(dev device.Device, n int) (UnifiedBuffer, error) { return unified.New[byte](dev, n) }
	}
	return unifiedbuffers.Property(open, buffer)
}
