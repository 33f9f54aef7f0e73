package unified

import (
	"runtime"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// eventually collects garbage until something is true.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 200 {
		if is() {
			return
		}
		runtime.GC()
		runtime.Gosched()
	}
	t.Errorf("never: %s", what)
}

func known(d device.Device) bool {
	memories.Lock()
	defer memories.Unlock()
	return memories.of[d] != nil
}

// All buffers of a device draw on the same pools.
func TestBuffersShareMemory(t *testing.T) {
	d := device.NewSim(1 << 20)
	a, err := New[byte](d, 1000)
	must(t, err)
	b, err := New[int32](d, 10)
	must(t, err)
	if a.a.mem != b.a.mem {
		t.Error("two buffers of a device have two memories")
	}
	must(t, a.SyncToDevice())
	_, err = a.Device()
	must(t, err)
	must(t, a.Free())
	if s := b.a.mem.device.Stats(); s.ActiveBlocks != 0 || s.HeldBytes == 0 {
		t.Errorf("%+v", s)
	}
	runtime.KeepAlive(b)
}

// forget makes buffers of all kinds, uses both sides, and forgets them.
func forget(t *testing.T, d device.Device, n int) {
	t.Helper()
	b, err := New[byte](d, n)
	must(t, err)
	must(t, b.Fill(1))
	_, err = b.DeviceMut()
	must(t, err)
}

// Forgotten buffers give the memory of both sides back, whatever their size.
func TestForgottenBuffers(t *testing.T) {
	d := device.NewSim(64 << 20)
	keep, err := New[byte](d, 1)
	must(t, err)
	hosts, err := hostPool()
	must(t, err)
	for _, n := range []int{1, 100, 32 << 10, 40 << 10, 1 << 20} {
		for range 20 {
			forget(t, d, n)
		}
	}
	eventually(t, "device memory comes back", func() bool { return keep.a.mem.device.Stats().ActiveBlocks == 0 })
	eventually(t, "host memory comes back", func() bool { return hosts.Stats().ActiveBlocks == 0 })
	runtime.KeepAlive(keep)
}

// Those that a stream uses come back when it has done with them.
func TestForgottenWhileInUse(t *testing.T) {
	d := device.NewSim(64 << 20)
	d.Late(1)
	keep, err := New[byte](d, 1)
	must(t, err)
	s, err := d.NewStream()
	must(t, err)
	for range 100 {
		b, err := New[byte](d, 1000)
		must(t, err)
		must(t, b.Fill(1))
		must(t, b.SyncToDeviceOn(s))
	}
	runtime.GC()
	must(t, s.Sync())
	eventually(t, "device memory comes back", func() bool { return keep.a.mem.device.Stats().ActiveBlocks == 0 })
	if n := d.Stats().UsedAfterFree; n != 0 {
		t.Errorf("%d pieces of work came to freed memory", n)
	}
	runtime.KeepAlive(keep)
}

// A device whose buffers are gone is let go of, with all that its pools hold.
func TestDevicesAreNotKept(t *testing.T) {
	d := device.NewSim(64 << 20)
	forget(t, d, 1<<20)
	if !known(d) {
		t.Fatal("the device is not known")
	}
	eventually(t, "the device is let go of", func() bool { return !known(d) })
	eventually(t, "its memory is back", func() bool { return d.Stats().ActiveBytes == 0 })
}

// A buffer keeps the pools of its device through collections.
func TestBuffersKeepTheirMemory(t *testing.T) {
	d := device.NewSim(64 << 20)
	b, err := New[byte](d, 1000)
	must(t, err)
	for range 10 {
		runtime.GC()
	}
	c, err := New[byte](d, 1000)
	must(t, err)
	if b.a.mem != c.a.mem {
		t.Error("a second memory for one device")
	}
	runtime.KeepAlive(b)
}

// A device that was closed goes when another one comes.
func TestClosedDevicesAreNotKept(t *testing.T) {
	d := device.NewSim(64 << 20)
	b, err := New[byte](d, 1<<20)
	must(t, err)
	_, err = b.Device()
	must(t, err)
	must(t, b.Free())
	if d.Stats().ActiveBytes == 0 {
		t.Fatal("nothing is held")
	}
	must(t, d.Close())
	_, err = New[byte](device.NewSim(1), 1)
	must(t, err)
	if known(d) || d.Stats().ActiveBytes != 0 {
		t.Errorf("known: %v, %d bytes held", known(d), d.Stats().ActiveBytes)
	}
}

// Devices that cannot be compared have pools of their own for each buffer.
func TestDeviceThatIsNotComparable(t *testing.T) {
	d := odd{Device: device.NewSim(1 << 20)}
	b, err := New[byte](d, 10)
	must(t, err)
	must(t, b.Fill(1))
	must(t, b.SyncToDevice())
	must(t, b.Free())
}

type odd struct {
	device.Device
	_ []int
}

// A forgotten pool takes its buffers along.
func TestForgottenPool(t *testing.T) {
	d := device.NewSim(64 << 20)
	keep, err := New[byte](d, 1)
	must(t, err)
	func() {
		p := NewPool(d, PoolConfig{})
		for range 3 {
			b, err := Acquire[byte](p, 1000)
			must(t, err)
			_, err = b.Device()
			must(t, err)
			must(t, b.Release())
		}
	}()
	eventually(t, "device memory comes back", func() bool { return keep.a.mem.device.Stats().ActiveBlocks == 0 })
	runtime.KeepAlive(keep)
}

// Pinned memory whose slices were seen is not used again when its buffer is
// forgotten: the collector does not know who still looks at it.
func TestForgottenPinnedMemoryIsNotReused(t *testing.T) {
	d := device.NewSim(64 << 20)
	for _, n := range []int{100, 40 << 10} {
		seen := func() []byte {
			b, err := NewPinned[byte](d, n)
			must(t, err)
			must(t, b.Fill(1))
			m, err := b.Host()
			must(t, err)
			return m
		}()
		for range 5 {
			runtime.GC()
			b, err := NewPinned[byte](d, n)
			must(t, err)
			must(t, b.Fill(2))
			must(t, b.Free())
		}
		for i, v := range seen {
			if v != 1 {
				t.Fatalf("element %d of %d was written by somebody else", i, n)
			}
		}
	}
}
