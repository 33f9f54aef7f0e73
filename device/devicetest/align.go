package devicetest

import (
	"testing"

	"github.com/bufslab/bufslab/device"
)

// align: what a device needs is a power of two, the same at each call.
func align(t *testing.T, d device.Device) {
	a, ok := d.(device.Aligned)
	if !ok {
		t.Skip("blocks of this device may begin anywhere")
	}
	n := a.Align()
	if n < 1 || n&(n-1) != 0 || a.Align() != n {
		t.Errorf("blocks have to begin at multiples of %d, and then of %d", n, a.Align())
	}
}
