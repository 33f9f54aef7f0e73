// Package devicetest checks that a device keeps the contract of package
// device. A backend's own tests need three lines:
//
//	func TestConformance(t *testing.T) {
//		devicetest.Run(t, func() (device.Device, error) { return device.Open("mine:0") })
//	}
package devicetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// checks are independent of each other; each gets a device of its own.
var checks = []struct {
	name string
	run  func(*testing.T, device.Device)
}{
	{"Name", name},
	{"Sizes", sizes},
	{"ImpossibleSizes", impossibleSizes},
	{"Distinct", distinct},
	{"HostBytes", hostBytes},
	{"BadFree", badFree},
	{"Concurrent", concurrent},
	{"Traits", traits},
	{"MemInfo", memInfo},
	{"Copy", copies},
	{"OverlappingCopy", overlappingCopies},
	{"CopyMistakes", copyMistakes},
	{"CopyAfterFree", copyAfterFree},
	{"Range", ranges},
	{"RangeMistakes", rangeMistakes},
	{"RangeGivesUp", rangeGivesUp},
	{"Forgotten", forgotten},
	{"ViewsKeep", viewsKeep},
	{"FreeUnwatches", freeUnwatches},
	{"Stream", streams},
	{"StreamError", streamError},
	{"Events", events},
	{"Accepts", accepts},
	{"OrderAmongStreams", orderAmong},
	{"SharedStream", sharedStream},
	{"CloseWaits", closeWaits},
	{"Done", done},
	{"NoEventAfterAnError", noEventAfterAnError},
	{"Pinned", pinned},
	{"PinnedCloses", pinnedCloses},
	{"Close", closes},
}

// Run runs the whole suite as subtests of t. Each subtest has a device of its
// own, which open makes. A subtest is skipped, with a sentence, where the device
// lacks an ability, and t is skipped where the error of open wraps
// [device.ErrUnavailable]. At most 32 MiB are allocated at a time. Do not run it
// in parallel on devices that share their memory, because it reads MemInfo.
func Run(t *testing.T, open func() (device.Device, error)) {
	t.Helper()
	d, err := open()
	unavailable(t, err, "the device is not there")
	must(t, d.Close())
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			d, err := open()
			must(t, err)
			defer d.Close()
			c.run(t, d)
		})
	}
}

// name: the name opens another device like this one.
func name(t *testing.T, d device.Device) {
	if scheme, _, _ := strings.Cut(d.Name(), ":"); !slices.Contains(device.Schemes(), scheme) {
		t.Skipf("no scheme %q is registered", scheme)
	}
	again, err := device.Open(d.Name())
	must(t, err)
	if again.Name() != d.Name() {
		t.Errorf("the name %s opens a device of the name %s", d.Name(), again.Name())
	}
	must(t, again.Close())
	d.Free(alloc(t, d, 1))
}
