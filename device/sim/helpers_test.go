package sim

import (
	"errors"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
)

var errTest = errors.New("test")

func opened(t testing.TB, name string) device.Device {
	t.Helper()
	d := check.Ok(device.Open(name))(t)
	t.Cleanup(func() { d.Close() })
	return d
}

// lateDevice returns a late device, a stream of it and a block of zeros on it.
func lateDevice(t testing.TB, seed uint64) (*Device, device.Stream, device.Block) {
	t.Helper()
	d := New(1 << 20)
	b := devcheck.Alloc(t, d, 100)
	check.Must(t, d.Copy(b, device.Host(make([]byte, 100))))
	d.Late(seed)
	return d, devcheck.Stream(t, d), b
}

// first returns the first byte of a block, whatever its streams are at.
func first(t testing.TB, d device.Device, b device.Block) byte {
	t.Helper()
	m := make([]byte, 1)
	check.Must(t, d.Copy(device.Host(m), devcheck.Part(b, 0, 1)))
	return m[0]
}
