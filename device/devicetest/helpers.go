package devicetest

import (
	"errors"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
)

var (
	alloc     = devcheck.Alloc
	stream    = devcheck.Stream
	record    = devcheck.Record
	part      = devcheck.Part
	pattern   = devcheck.Pattern
	write     = devcheck.Write
	read      = devcheck.Read
	must      = check.Must
	mustPanic = check.Panics
	same      = check.Same[byte]
)

// wants fails unless err wraps one of the sentinels.
func wants(t *testing.T, err error, what string, sentinels ...error) {
	t.Helper()
	for _, s := range sentinels {
		if errors.Is(err, s) {
			return
		}
	}
	t.Errorf("%s: error is %v, not one of %v", what, err, sentinels)
}

// unavailable skips the check where err says that the device cannot do it.
func unavailable(t *testing.T, err error, what string) {
	t.Helper()
	if errors.Is(err, device.ErrUnavailable) {
		t.Skipf("%s: %v", what, err)
	}
	must(t, err)
}

// onHost returns host memory to copy from and to, with the given contents. It
// is the heap's, which every device has to reach.
func onHost(t *testing.T, contents []byte) device.Block {
	t.Helper()
	b := alloc(t, check.Ok(device.Open("heap"))(t), len(contents))
	copy(device.Bytes(b), contents)
	return b
}

// needsMemory skips a check on a device that has no contents.
func needsMemory(t *testing.T, d device.Device) {
	t.Helper()
	b := alloc(t, d, 1)
	defer d.Free(b)
	unavailable(t, d.Copy(b, onHost(t, []byte{1})), "there are no contents to look at")
}
