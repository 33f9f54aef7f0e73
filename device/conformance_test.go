package device_test

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/devicetest"
)

func TestConformance(t *testing.T) {
	for _, name := range []string{
		"heap", "mmap", "mmap:fixed", "virtual", "virtual:fixed,64MiB", "virtual:64MiB", "sim", "sim:64MiB", "sim:late=1",
		"sim:pinned", "sim:64MiB:late=2:pinned",
	} {
		t.Run(name, func(t *testing.T) {
			devicetest.Run(t, func() (device.Device, error) { return device.Open(name) })
		})
	}
}
