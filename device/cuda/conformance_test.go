//go:build cuda && cgo && linux && (amd64 || arm64)

package cuda

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/devicetest"
	"github.com/bufslab/bufslab/fuzz"
)

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
