package unified_test

import (
	"errors"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
)

// calls are all calls of a Buffer that take a stream.
var calls = map[string]func(b *unified.Buffer[byte], s device.Stream) error{
	"SyncToDeviceOn":    (*unified.Buffer[byte]).SyncToDeviceOn,
	"SyncToHostOn":      (*unified.Buffer[byte]).SyncToHostOn,
	"UsedOn":            (*unified.Buffer[byte]).UsedOn,
	"DeviceOn":          func(b *unified.Buffer[byte], s device.Stream) error { return check.Err(b.DeviceOn(s)) },
	"DeviceMutOn":       func(b *unified.Buffer[byte], s device.Stream) error { return check.Err(b.DeviceMutOn(s)) },
	"DeviceOverwriteOn": func(b *unified.Buffer[byte], s device.Stream) error { return check.Err(b.DeviceOverwriteOn(s)) },
}

// A stream of another device, and one that is closed, are refused by every call, whatever the state of the buffer, and
// what the device has is there afterwards.
func TestStreamsThatCannotWorkAreRefused(t *testing.T) {
	other, heap := sim.New(1<<20), check.Ok(device.Open("heap"))(t)
	for name, call := range calls {
		for _, c := range []struct {
			of   device.Device
			want error
		}{{other, device.ErrUnavailable}, {heap, device.ErrUnavailable}, {nil, device.ErrClosed}} {
			d, b := small(t)
			writeDevice(t, d, b, 1, 2, 3)
			var s device.Stream = stream(t, d)
			if c.of != nil {
				s = check.Ok(c.of.NewStream())(t)
			} else {
				check.Must(t, s.Close())
			}
			if err := call(b, s); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, not %v", name, err, c.want)
			}
			wantState(t, b, unified.DeviceDirty)
			wantHost(t, b, 1, 2, 3)
			check.Must(t, b.Free())
		}
	}
}

// A buffer without memory refuses such a stream, too, and takes none.
func TestAForeignStreamIsRefusedBeforeMemoryIsThere(t *testing.T) {
	d, b := small(t)
	s := check.Ok(sim.New(1 << 20).NewStream())(t)
	check.Wraps(t, calls["DeviceMutOn"](b, s), device.ErrUnavailable)
	wantState(t, b, unified.Uninitialized)
	writeDevice(t, d, b, 1, 2, 3)
	wantHost(t, b, 1, 2, 3)
	check.Wraps(t, b.UsedOn(nil), device.ErrUnavailable)
	check.Must(t, b.Free())
}

// A Pool on a slab.Pool that is closed later has buffers without memory on that side.
func TestAHostThatIsClosedLater(t *testing.T) {
	host, dev := slab.MustOpen("device=mmap"), slab.MustOpen("device=sim:1MiB")
	p := unified.NewPoolOn(host, dev, unified.PoolConfig{})
	check.Must(t, host.Close())
	b := acquired[byte](t, p, 10)
	check.Wraps(t, check.Err(b.HostMut()), slab.ErrClosed)
	check.Must(t, check.Err(b.DeviceMut()), b.Free(), dev.Close())
	check.Wraps(t, check.Err(unified.Acquire[byte](unified.NewPoolOn(host, dev, unified.PoolConfig{}), 10)), slab.ErrClosed)
}

// A slab.Pool refuses such a stream in GetOn and UsedOn. Memory of the host takes streams of every device.
func TestPoolsRefuseForeignStreams(t *testing.T) {
	s := check.Ok(sim.New(1 << 20).NewStream())(t)
	for line, want := range map[string]error{"device=sim:1MiB": device.ErrUnavailable, "device=mmap": nil, "": nil, "device=sim:1MiB:pinned": nil} {
		p := slab.MustOpen(line)
		b := check.Ok(p.Get(1000))(t)
		check.Wraps(t, b.UsedOn(s), want)
		c, err := p.GetOn(2000, s)
		check.Wraps(t, err, want)
		if want != nil && p.Stats().ActiveBytes != 1000 {
			t.Errorf("%s: %+v", line, p.Stats())
		}
		_ = c.Release()
		check.Must(t, b.Release(), p.Close())
	}
	closed := check.Ok(sim.New(1 << 20).NewStream())(t)
	check.Must(t, closed.Close())
	p := slab.MustOpen("device=mmap")
	check.Wraps(t, check.Err(p.GetOn(1000, closed)), device.ErrClosed)
	check.Must(t, p.Close())
}
