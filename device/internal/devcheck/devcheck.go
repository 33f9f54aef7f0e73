// Package devcheck holds the phrases that tests of devices repeat.
package devcheck

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
)

// Opener opens a device by its name, which has to be what the device says.
func Opener(t testing.TB, name string) func() (device.Device, error) {
	return func() (device.Device, error) {
		d, err := device.Open(name)
		if err == nil && d.Name() != name {
			t.Errorf("%s has the name %s", name, d.Name())
		}
		return d, err
	}
}

// Alloc returns a block of size bytes, or ends the test.
func Alloc(t testing.TB, d device.Device, size int) device.Block {
	t.Helper()
	return check.Ok(d.Alloc(size))(t)
}

// Stream returns a new stream of d, or ends the test.
func Stream(t testing.TB, d device.Device) device.Stream {
	t.Helper()
	return check.Ok(d.NewStream())(t)
}

// Record returns an event of s, or ends the test.
func Record(t testing.TB, s device.Stream) device.Event {
	t.Helper()
	return check.Ok(s.Record())(t)
}

// Part returns n bytes of b from off.
func Part(b device.Block, off, n int) device.Block {
	return device.Block{Region: b.Region, Off: b.Off + off, Len: n}
}

// Pattern returns n bytes that differ from those of another seed nearly
// everywhere and repeat at no power of two.
func Pattern(n, seed int) []byte {
	m := make([]byte, n)
	for i := range m {
		m[i] = byte(i%251 + i/251 + seed*37)
	}
	return m
}

// Write copies contents to b.
func Write(t testing.TB, d device.Device, b device.Block, contents []byte) {
	t.Helper()
	check.Must(t, d.Copy(b, device.Host(contents)))
}

// Read returns the contents of b, which d copies to the host.
func Read(t testing.TB, d device.Device, b device.Block) []byte {
	t.Helper()
	m := make([]byte, b.Len)
	check.Must(t, d.Copy(device.Host(m), b))
	return m
}
