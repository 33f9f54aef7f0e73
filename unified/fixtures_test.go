package unified_test

import (
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/unified"
)

func made[T any](t testing.TB, d device.Device, shape ...int) *unified.Buffer[T] {
	t.Helper()
	return check.Ok(unified.New[T](d, shape...))(t)
}

func pinned(t testing.TB, d device.Device, n int) *unified.Buffer[byte] {
	t.Helper()
	return check.Ok(unified.NewPinned[byte](d, n))(t)
}

func acquired[T any](t testing.TB, p *unified.Pool, shape ...int) *unified.Buffer[T] {
	t.Helper()
	return check.Ok(unified.Acquire[T](p, shape...))(t)
}

func stream(t testing.TB, d device.Device) *sim.Stream {
	t.Helper()
	return check.Ok(d.NewStream())(t).(*sim.Stream)
}

// small returns a device and a buffer of three bytes.
func small(t testing.TB) (*sim.Device, *unified.Buffer[byte]) {
	t.Helper()
	d := sim.New(1 << 20)
	return d, made[byte](t, d, 3)
}

// slowSim returns a device on which a megabyte takes a millisecond either way.
func slowSim() *sim.Device {
	d := sim.New(1 << 30)
	d.Costs(sim.Costs{ToDevice: 1e9, ToHost: 1e9, Within: 1e9, Pageable: 1e9})
	return d
}

const mega = 1_000_000

// slow returns a slowSim, a pinned buffer of n bytes and a stream.
func slow(t testing.TB, n int) (*sim.Device, *unified.Buffer[byte], *sim.Stream) {
	t.Helper()
	d := slowSim()
	return d, pinned(t, d, n), stream(t, d)
}

func simPool(c unified.PoolConfig) (*sim.Device, *unified.Pool) {
	d := sim.New(64 << 20)
	return d, unified.NewPool(d, c)
}

// compute launches a kernel that writes to b on s, and takes a while.
func compute(t testing.TB, b *unified.Buffer[byte], s *sim.Stream, while time.Duration, kernel func([]byte)) {
	t.Helper()
	x := check.Ok(b.DeviceMutOn(s))(t)
	check.Must(t, s.Launch(while, func(args ...[]byte) { kernel(args[0]) }, x))
}

// writeDevice does what a kernel would do: it writes bytes to the device side.
func writeDevice(t testing.TB, d device.Device, b *unified.Buffer[byte], value ...byte) {
	t.Helper()
	check.Must(t, d.Copy(check.Ok(b.DeviceMut())(t), device.Host(value)))
}

func readDevice(t testing.TB, d device.Device, b *unified.Buffer[byte]) []byte {
	t.Helper()
	m := make([]byte, b.Len())
	check.Must(t, d.Copy(device.Host(m), check.Ok(b.Device())(t)))
	return m
}

// wantDevice fails unless the device side begins with want.
func wantDevice(t testing.TB, d device.Device, b *unified.Buffer[byte], want ...byte) {
	t.Helper()
	check.Same(t, readDevice(t, d, b)[:len(want)], want, "device side")
}

// wantHost fails unless the host side begins with want.
func wantHost[T comparable](t testing.TB, b *unified.Buffer[T], want ...T) {
	t.Helper()
	check.Same(t, check.Ok(b.Host())(t)[:len(want)], want, "host side")
}

func wantState[T any](t testing.TB, b *unified.Buffer[T], want unified.State) {
	t.Helper()
	if s := b.State(); s != want {
		t.Fatalf("state is %v, not %v", s, want)
	}
}

func wantClock(t testing.TB, d *sim.Device, least, most time.Duration) {
	t.Helper()
	if now := d.Clock(); now < least || now > most {
		t.Errorf("it is %v by the clock, not %v to %v", now, least, most)
	}
}

func notUsedAfterFree(t testing.TB, d *sim.Device) {
	t.Helper()
	if n := d.Stats().UsedAfterFree; n != 0 {
		t.Errorf("%d pieces of work came to freed memory", n)
	}
}
