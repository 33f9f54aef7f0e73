//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"testing"

	"gorgonia.org/cu"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/cuda/internal/double"
	"github.com/bufslab/bufslab/device/devicetest"
	"github.com/bufslab/bufslab/fuzz"
)

var names = []string{"cuda:0", "cuda:0:managed", "cuda:0:async", "cuda:0:pinned"}

// opened returns a device and, where the driver is the double, checks in the end that no
// mistake was made and no memory was left.
func opened(t testing.TB, name string) device.Device {
	t.Helper()
	watch(t)
	d, err := device.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func watch(t testing.TB) {
	t.Helper()
	if !double.Present() {
		return
	}
	blocks := double.Blocks()
	double.Mistakes()
	t.Cleanup(func() {
		t.Helper()
		if g, err := gpuOf(0); err == nil {
			_ = g.do(cu.Synchronize) // frees of a pool are work
		}
		if n := double.Mistakes(); n != 0 {
			t.Errorf("%d mistakes", n)
		}
		if n := double.Blocks() - blocks; n > 0 {
			t.Errorf("%d allocations are left", n)
		}
	})
}

func TestConformance(t *testing.T) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			watch(t)
			devicetest.Run(t, func() (device.Device, error) { return device.Open(name) })
		})
	}
}

func TestModel(t *testing.T) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			watch(t)
			fuzz.CheckDevice(t, func() (device.Device, error) { return device.Open(name) })
		})
	}
}
