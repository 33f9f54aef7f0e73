// Package devicetest checks that a device keeps the contract of package
// device. A backend's own tests need three lines:
//
//	func TestConformance(t *testing.T) {
//		devicetest.Run(t, func() (device.Device, error) { return device.Open("mine:0") })
//	}
package devicetest

import (
	"errors"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// checks are independent of each other; each gets a device of its own.
var checks = []struct {
	name string
	run  func(*testing.T, device.Device)
}{
	{"Sizes", sizes},
	{"ImpossibleSizes", impossibleSizes},
	{"Distinct", distinct},
	{"HostBytes", hostBytes},
	{"BadFree", badFree},
	{"Concurrent", concurrent},
	{"Align", align},
	{"MemInfo", memInfo},
	{"Copy", copies},
	{"CopyMistakes", copyMistakes},
	{"CopyAfterFree", copyAfterFree},
	{"Range", ranges},
	{"RangeMistakes", rangeMistakes},
	{"Discard", discard},
	{"Forgotten", forgotten},
	{"ViewsKeep", viewsKeep},
	{"FreeUnwatches", freeUnwatches},
	{"Stream", streams},
	{"StreamError", streamError},
	{"Events", events},
	{"OrderAmongStreams", orderAmong},
	{"SharedStream", sharedStream},
	{"CloseWaits", closeWaits},
	{"Done", done},
	{"NoEventAfterAnError", noEventAfterAnError},
	{"Pinned", pinned},
	{"PinnedCloses", pinnedCloses},
	{"Close", closes},
}

// Run runs the whole suite as subtests of t on devices that open makes, a new one
// for each. What a device cannot do by nature is skipped with a sentence, and
// so is everything where open says that the device is not there. Fewer than
// 32 MiB are allocated at a time. Run is not for parallel use on devices that
// share their memory, because the suite looks at MemInfo.
func Run(t *testing.T, open func() (device.Device, error)) {
	t.Helper()
	d, err := open()
	if errors.Is(err, device.ErrUnavailable) {
		t.Skipf("the device is not there: %v", err)
	}
	must(t, err)
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
