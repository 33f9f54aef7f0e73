package unified_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/unified"
)

// PyDotCompute's buffer, from which this one has its states, loses data in
// several ways. Each is a test here that this one does not.

func made[T any](t testing.TB, d device.Device, shape ...int) *unified.Buffer[T] {
	t.Helper()
	b, err := unified.New[T](d, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error is %v, not %v", err, want)
	}
}

func wantState[T any](t testing.TB, b *unified.Buffer[T], want unified.State) {
	t.Helper()
	if s := b.State(); s != want {
		t.Fatalf("state is %v, not %v", s, want)
	}
}

// wantHost reads the host side.
func wantHost[T comparable](t testing.TB, b *unified.Buffer[T], want ...T) {
	t.Helper()
	m, err := b.Host()
	must(t, err)
	if !slices.Equal(m, want) {
		t.Fatalf("host side is %v, not %v", m, want)
	}
}

// writeDevice is what a kernel would do: it writes bytes to the device side.
func writeDevice(t testing.TB, d device.Device, b *unified.Buffer[byte], value ...byte) {
	t.Helper()
	block, err := b.DeviceMut()
	must(t, err)
	must(t, d.Copy(block, device.Host(value)))
}

func readDevice(t testing.TB, d device.Device, b *unified.Buffer[byte]) []byte {
	t.Helper()
	block, err := b.Device()
	must(t, err)
	m := make([]byte, b.Len())
	must(t, d.Copy(device.Host(m), block))
	return m
}

// Two sides without contents count as equal there, and as synchronized.
func TestLossTwoUninitializedSidesAreSynchronized(t *testing.T) {
	d := device.NewSim(1 << 20)
	b := made[byte](t, d, 3)
	wantState(t, b, unified.Uninitialized)
	must(t, b.SyncToDevice())
	must(t, b.SyncToHost())
	wantState(t, b, unified.Uninitialized)
	if got := readDevice(t, d, b); !slices.Equal(got, []byte{0, 0, 0}) {
		t.Errorf("fresh contents are %v", got) // the device's own are 0xDB
	}
	wantState(t, b, unified.DeviceOnly)
	wantHost(t, b, 0, 0, 0)
	wantState(t, b, unified.Synchronized)
}

// To mark one side while the other is dirty drops a write there.
func TestLossOneSideMarkedWhileTheOtherIsDirty(t *testing.T) {
	d := device.NewSim(1 << 20)
	b := made[byte](t, d, 3)
	must(t, b.CopyFrom([]byte{1, 2, 3}))
	must(t, b.SyncToDevice())
	m, err := b.HostMut()
	must(t, err)
	m[0] = 9
	wantErr(t, b.MarkDeviceDirty(), unified.ErrConflict)
	wantState(t, b, unified.HostDirty)
	if got := readDevice(t, d, b); !slices.Equal(got, []byte{9, 2, 3}) {
		t.Errorf("device side is %v", got)
	}
	writeDevice(t, d, b, 4, 5, 6)
	wantErr(t, b.MarkHostDirty(), unified.ErrConflict)
	wantState(t, b, unified.DeviceDirty)
	wantHost(t, b, 4, 5, 6)
}

// A device side that is marked where there is none stays dirty for ever.
func TestLossDeviceDirtyWithoutADevice(t *testing.T) {
	d := device.NewSim(1 << 20)
	b := made[byte](t, d, 3)
	wantErr(t, b.MarkDeviceDirty(), unified.ErrUninitialized)
	wantErr(t, b.MarkHostDirty(), unified.ErrUninitialized)
	wantState(t, b, unified.Uninitialized)
	wantHost(t, b, 0, 0, 0)
	wantErr(t, b.MarkDeviceDirty(), unified.ErrUninitialized)
	wantState(t, b, unified.HostOnly)
	if n := d.Stats().AllocCalls; n != 0 {
		t.Errorf("%d allocations on a device that nobody asked for", n)
	}
}

// fill of a buffer that is on the device only does nothing.
func TestLossFillOfADeviceOnlyBuffer(t *testing.T) {
	d := device.NewSim(1 << 20)
	b := made[byte](t, d, 3)
	readDevice(t, d, b)
	wantState(t, b, unified.DeviceOnly)
	must(t, b.Fill(7))
	wantState(t, b, unified.HostDirty)
	if got := readDevice(t, d, b); !slices.Equal(got, []byte{7, 7, 7}) {
		t.Errorf("device side is %v", got)
	}
	writeDevice(t, d, b, 1, 2, 3)
	must(t, b.Zero())
	wantHost(t, b, 0, 0, 0)
}

// free keeps a third copy, which later reads give.
func TestLossStaleCopyAfterFree(t *testing.T) {
	d := device.NewSim(1 << 20)
	b := made[byte](t, d, 3)
	must(t, b.CopyFrom([]byte{1, 2, 3}))
	must(t, b.SyncToDevice())
	must(t, b.Free())
	wantState(t, b, unified.Uninitialized)
	if m, err := b.Host(); m != nil || !errors.Is(err, unified.ErrReleased) {
		t.Errorf("Host after Free: %v, %v", m, err)
	}
	if m, err := b.ToSlice(); m != nil || !errors.Is(err, unified.ErrReleased) {
		t.Errorf("ToSlice after Free: %v, %v", m, err)
	}
	if x, err := b.Device(); x != (device.Block{}) || !errors.Is(err, unified.ErrReleased) {
		t.Errorf("Device after Free: %v, %v", x, err)
	}
}

// A device allocation that fails is silently the host's instead.
func TestLossFailedDeviceAllocation(t *testing.T) {
	d := device.NewSim(100)
	b := made[byte](t, d, 1000)
	must(t, b.Fill(1))
	_, err := b.Device()
	wantErr(t, err, device.ErrOutOfMemory)
	wantErr(t, b.SyncToDevice(), device.ErrOutOfMemory)
	wantState(t, b, unified.HostDirty)
	if m, err := b.Host(); err != nil || len(m) != 1000 || m[999] != 1 {
		t.Errorf("the host side is gone: %v", err)
	}
}

// Pinned memory is pageable there unless its bytes are a power of two from 512
// up.
func TestLossPinnedThatIsPageable(t *testing.T) {
	d := device.NewSim(1 << 20)
	d.Costs(device.SimCosts{Pageable: 1, ToDevice: 1e12})
	for _, n := range []int{1, 3, 511, 512, 513, 1000, 4096, 100_001} {
		b, err := unified.NewPinned[byte](d, n)
		must(t, err)
		must(t, b.Fill(1))
		before := d.Clock()
		must(t, b.SyncToDevice())
		if took := d.Clock() - before; took >= 1e9 || !b.Pinned() {
			t.Errorf("%d bytes took %v, as if they were pageable", n, took)
		}
		must(t, b.Free())
	}
	heap, err := device.Open("heap")
	must(t, err)
	_, err = unified.NewPinned[byte](heap, 512)
	wantErr(t, err, device.ErrUnavailable)
}

// What is written through the host array goes unnoticed. In Go nobody can see
// that either, so who may write says so before, or marks it after.
func TestLossWritesThroughTheHostArray(t *testing.T) {
	d := device.NewSim(1 << 20)
	b := made[byte](t, d, 3)
	m, err := b.HostMut()
	must(t, err)
	must(t, b.SyncToDevice())
	m[0] = 1
	must(t, b.MarkHostDirty())
	if got := readDevice(t, d, b); got[0] != 1 {
		t.Errorf("device side is %v", got)
	}
	m, err = b.HostMut()
	must(t, err)
	m[0] = 2
	if got := readDevice(t, d, b); got[0] != 2 {
		t.Errorf("device side is %v", got)
	}
}
