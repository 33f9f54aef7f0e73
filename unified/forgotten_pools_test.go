package unified_test

import (
	"runtime"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
)

// forget lets the collector find what the program has let go of, and cleanups run.
func forget() {
	for range 3 {
		runtime.GC()
	}
}

// A buffer and its views do all that they could where the program has let go of the Pool, and of the
// slab pools below it.
func TestBuffersOutliveTheirPools(t *testing.T) {
	dev := slab.MustOpen("device=sim:1MiB")
	d := dev.Device()
	p := unified.NewPoolOn(slab.MustOpen("device=mmap"), dev, unified.PoolConfig{})
	b := acquired[byte](t, p, 10, 100)
	check.Must(t, b.Fill(3))
	dev, p = nil, nil
	forget()
	v := check.Ok(b.View(10, 20))(t)
	check.Ok(b.Device())(t) // takes memory
	writeDevice(t, d, v, make([]byte, 10)...)
	wantHost(t, v, 0, 0)
	wantDevice(t, d, b, 3, 3)
	s := check.Ok(d.NewStream())(t)
	check.Must(t, s.Fill(check.Ok(b.DeviceMutOn(s))(t), 9), b.UsedOn(s))
	forget()
	to := make([]byte, 1000)
	check.Must(t, b.CopyTo(to), b.CopyFrom(to), b.SyncToDevice(), b.SyncToHost(), b.MarkHostDirty())
	if to[0] != 9 || to[999] != 9 || b.State() != unified.HostDirty {
		t.Errorf("%d, %d, %v", to[0], to[999], b.State())
	}
	check.Must(t, b.Release())
}

// A slab pool that is closed leaves its device open for the buffers that are out: what is on the device
// alone is not lost.
func TestACloseLosesNothingOnTheDevice(t *testing.T) {
	dev := slab.MustOpen("device=sim:1MiB")
	d := dev.Device()
	b := acquired[byte](t, unified.NewPoolOn(nil, dev, unified.PoolConfig{}), 100)
	writeDevice(t, d, b, make([]byte, 100)...)
	wantState(t, b, unified.DeviceDirty)
	if dev.Close() == nil {
		t.Error("Close does not tell that a buffer is out")
	}
	wantHost(t, b, 0, 0)
	check.Must(t, b.Free())
	check.Wraps(t, check.Err(d.Alloc(1)), device.ErrClosed)
}
