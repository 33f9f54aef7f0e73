package unified_test

import (
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/unified"
)

// PyDotCompute's buffer, from which this one has its states, loses data in
// several ways. Each is a test here that this one does not.

// Two sides without contents count as equal there, and as synchronized.
func TestLossTwoUninitializedSidesAreSynchronized(t *testing.T) {
	d, b := small(t)
	wantState(t, b, unified.Uninitialized)
	check.Must(t, b.SyncToDevice(), b.SyncToHost())
	wantState(t, b, unified.Uninitialized)
	wantDevice(t, d, b, 0, 0, 0)
	wantState(t, b, unified.DeviceOnly)
	wantHost(t, b, 0, 0, 0)
	wantState(t, b, unified.Synchronized)
}

// To mark one side while the other is dirty drops a write there.
func TestLossOneSideMarkedWhileTheOtherIsDirty(t *testing.T) {
	d, b := small(t)
	check.Must(t, b.CopyFrom([]byte{1, 2, 3}), b.SyncToDevice())
	m := check.Ok(b.HostMut())(t)
	m[0] = 9
	check.Wraps(t, b.MarkDeviceDirty(), unified.ErrConflict)
	wantState(t, b, unified.HostDirty)
	wantDevice(t, d, b, 9, 2, 3)
	writeDevice(t, d, b, 4, 5, 6)
	check.Wraps(t, b.MarkHostDirty(), unified.ErrConflict)
	wantState(t, b, unified.DeviceDirty)
	wantHost(t, b, 4, 5, 6)
}

// A device side that is marked where there is none stays dirty for ever.
func TestLossDeviceDirtyWithoutADevice(t *testing.T) {
	d, b := small(t)
	check.Wraps(t, b.MarkDeviceDirty(), unified.ErrUninitialized)
	check.Wraps(t, b.MarkHostDirty(), unified.ErrUninitialized)
	wantState(t, b, unified.Uninitialized)
	wantHost(t, b, 0, 0, 0)
	check.Wraps(t, b.MarkDeviceDirty(), unified.ErrUninitialized)
	wantState(t, b, unified.HostOnly)
	if n := d.Stats().AllocCalls; n != 0 {
		t.Errorf("%d allocations on a device that no access has asked for", n)
	}
}

// fill of a buffer that is on the device only does nothing.
func TestLossFillOfADeviceOnlyBuffer(t *testing.T) {
	d, b := small(t)
	readDevice(t, d, b)
	wantState(t, b, unified.DeviceOnly)
	check.Must(t, b.Fill(7))
	wantState(t, b, unified.HostDirty)
	wantDevice(t, d, b, 7, 7, 7)
	writeDevice(t, d, b, 1, 2, 3)
	check.Must(t, b.Zero())
	wantHost(t, b, 0, 0, 0)
}

// free keeps a third copy, which later reads give.
func TestLossStaleCopyAfterFree(t *testing.T) {
	_, b := small(t)
	check.Must(t, b.CopyFrom([]byte{1, 2, 3}), b.SyncToDevice(), b.Free())
	wantState(t, b, unified.Uninitialized)
	m, _ := b.Host()
	own, _ := b.ToSlice()
	x, _ := b.Device()
	if m != nil || own != nil || x != (device.Block{}) { // the errors are in TestSeedNotAllocated
		t.Errorf("after Free: %v, %v, %v", m, own, x)
	}
}

// A device allocation that fails is silently the host's instead.
func TestLossFailedDeviceAllocation(t *testing.T) {
	d := sim.New(100)
	b := made[byte](t, d, 1000)
	check.Must(t, b.Fill(1))
	check.Wraps(t, check.Err(b.Device()), device.ErrOutOfMemory)
	check.Wraps(t, b.SyncToDevice(), device.ErrOutOfMemory)
	wantState(t, b, unified.HostDirty)
	if m, err := b.Host(); err != nil || len(m) != 1000 || m[999] != 1 {
		t.Errorf("the host side is gone: %v", err)
	}
}

// Pinned memory is pageable there unless its bytes are a power of two from 512
// up.
func TestLossPinnedThatIsPageable(t *testing.T) {
	d := sim.New(1 << 20)
	d.Costs(sim.Costs{Pageable: 1, ToDevice: 1e12})
	for _, n := range []int{1, 3, 511, 512, 513, 1000, 4096, 100_001} {
		b := check.Ok(unified.NewPinned[byte](d, n))(t)
		check.Must(t, b.Fill(1))
		before := d.Clock()
		check.Must(t, b.SyncToDevice())
		if took := d.Clock() - before; took >= 1e9 || !b.Pinned() {
			t.Errorf("%d bytes took %v, as if they were pageable", n, took)
		}
		check.Must(t, b.Free())
	}
	heap := check.Ok(device.Open("heap"))(t)
	check.Wraps(t, check.Err(unified.NewPinned[byte](heap, 512)), device.ErrUnavailable)
}

// Writes through the host array go unnoticed. Go cannot notice them either, so a
// program asks with HostMut before it writes, or marks after.
func TestLossWritesThroughTheHostArray(t *testing.T) {
	d, b := small(t)
	m := check.Ok(b.HostMut())(t)
	check.Must(t, b.SyncToDevice())
	m[0] = 1
	check.Must(t, b.MarkHostDirty())
	wantDevice(t, d, b, 1)
	m = check.Ok(b.HostMut())(t)
	m[0] = 2
	wantDevice(t, d, b, 2)
}
