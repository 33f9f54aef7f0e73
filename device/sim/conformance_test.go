package sim_test

import (
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/devicetest"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/device/sim"
)

func TestConformance(t *testing.T) {
	for _, name := range []string{
		"sim", "sim:64MiB", "sim:late=1", "sim:64MiB:late=2", "sim:pinned", "sim:64MiB:pinned", "sim:64MiB:late=2:pinned",
	} {
		t.Run(name, func(t *testing.T) { devicetest.Run(t, devcheck.Opener(t, name)) })
	}
	t.Run("costly", func(t *testing.T) {
		devicetest.Run(t, func() (device.Device, error) {
			d := sim.New(64 << 20)
			d.Costs(sim.Costs{Call: time.Nanosecond, Latency: time.Millisecond, ToDevice: 1e9, ToHost: 1e9, Within: 1e9, Pageable: 1e9})
			return d, nil
		})
	})
}
