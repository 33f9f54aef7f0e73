package unified_test

import (
	"slices"
	"testing"

	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/unified"
)

// What PyDotCompute's documents and tests of UnifiedBuffer ask for, told again.

func TestSeedCreation(t *testing.T) {
	d := sim.New(1 << 20)
	b := made[float32](t, d, 10, 20)
	wantState(t, b, unified.Uninitialized)
	if b.Len() != 200 || !slices.Equal(b.Shape(), []int{10, 20}) {
		t.Errorf("%d elements, %v", b.Len(), b.Shape())
	}
	got := []int{b.SizeBytes(), made[float64](t, d, 4, 5, 6).SizeBytes(), made[float32](t, d, 7).SizeBytes(),
		made[int32](t, d, 3).SizeBytes(), made[int64](t, d, 3).SizeBytes(), made[uint8](t, d, 3).SizeBytes(), made[complex64](t, d, 3).SizeBytes()}
	check.Same(t, got, []int{800, 960, 28, 12, 24, 3, 24}, "bytes")
}

// The table of transitions of the document, row by row.
func TestSeedStateTransitions(t *testing.T) {
	d, b := small(t)
	wantHost(t, b, 0, 0, 0)
	wantState(t, b, unified.HostOnly)
	readDevice(t, d, b)
	wantState(t, b, unified.Synchronized)
	copy(check.Ok(b.HostMut())(t), "abc")
	wantState(t, b, unified.HostDirty)
	wantDevice(t, d, b, []byte("abc")...)
	wantState(t, b, unified.Synchronized)
	writeDevice(t, d, b, []byte("xyz")...)
	wantState(t, b, unified.DeviceDirty)
	wantHost(t, b, []byte("xyz")...)
	wantState(t, b, unified.Synchronized)
}

// copy_from, zeros and fill allocate if they need to, and leave HOST_DIRTY.
func TestSeedCopyFromZeroFill(t *testing.T) {
	d := sim.New(1 << 20)
	for name, write := range map[string]func(*unified.Buffer[byte]) error{
		"CopyFrom": func(b *unified.Buffer[byte]) error { return b.CopyFrom([]byte{5, 5, 5}) },
		"Fill":     func(b *unified.Buffer[byte]) error { return b.Fill(5) },
		"Zero":     func(b *unified.Buffer[byte]) error { return b.Zero() },
	} {
		b := made[byte](t, d, 3)
		check.Must(t, write(b))
		wantState(t, b, unified.HostDirty)
		want := []byte{5, 5, 5}
		if name == "Zero" {
			want = []byte{0, 0, 0}
		}
		wantHost(t, b, want...)
		writeDevice(t, d, b, 1, 2, 3)
		check.Must(t, write(b))
		wantHost(t, b, want...)
		wantDevice(t, d, b, want...)
	}
}

func TestSeedCopyTo(t *testing.T) {
	d, b := small(t)
	writeDevice(t, d, b, 1, 2, 3)
	m := make([]byte, 3)
	check.Must(t, b.CopyTo(m))
	own := check.Ok(b.ToSlice())(t)
	if !slices.Equal(m, []byte{1, 2, 3}) || !slices.Equal(own, m) {
		t.Errorf("%v, %v", m, own)
	}
	own[0] = 9 // is the caller's own
	wantHost(t, b, 1, 2, 3)
}

// An index write sets HOST_DIRTY, an index read does not.
func TestSeedIndexing(t *testing.T) {
	d := sim.New(1 << 20)
	b := made[byte](t, d, 10)
	check.Must(t, b.Fill(1), b.SyncToDevice())
	m := check.Ok(b.HostRange(3, 4))(t)
	if m[0] != 1 {
		t.Errorf("element is %d", m[0])
	}
	wantState(t, b, unified.Synchronized)
	m = check.Ok(b.HostMutRange(3, 4))(t)
	m[0] = 2
	wantState(t, b, unified.HostDirty)
	before := d.Stats().ToDeviceBytes
	wantDevice(t, d, b, 1, 1, 1, 2, 1)
	if n := d.Stats().ToDeviceBytes - before; n != 1 {
		t.Errorf("%d bytes moved", n)
	}
}

// synchronize, ensure_on_host and ensure_on_device do nothing when in sync.
func TestSeedSynchronize(t *testing.T) {
	d, b := small(t)
	check.Must(t, b.Fill(1))
	for range 3 {
		check.Must(t, b.SyncToDevice(), b.SyncToHost())
		wantState(t, b, unified.Synchronized)
	}
	if n := d.Stats().CopyCalls; n != 1 {
		t.Errorf("%d copies", n)
	}
	writeDevice(t, d, b, 1, 2, 3)
	check.Must(t, b.SyncToDevice()) // has nothing to do
	wantState(t, b, unified.DeviceDirty)
	check.Must(t, b.SyncToHost())
	wantState(t, b, unified.Synchronized)
}

// free leaves UNINITIALIZED, and memory goes back.
func TestSeedFree(t *testing.T) {
	d := sim.New(1 << 20)
	b := made[byte](t, d, 1<<19)
	check.Must(t, b.Fill(1), b.SyncToDevice(), b.Free())
	wantState(t, b, unified.Uninitialized)
	c := made[byte](t, d, 1<<19) // there is no room for two
	check.Must(t, c.Fill(2), c.SyncToDevice())
	d2 := made[byte](t, d, 1<<20)
	check.Must(t, c.Free(), d2.SyncToDevice())
	check.Ok(d2.Device())(t)
}

// host, device and marks of what has no memory any more are errors.
func TestSeedNotAllocated(t *testing.T) {
	d, b := small(t)
	s := check.Ok(d.NewStream())(t)
	check.Must(t, b.Free())
	for name, err := range map[string]error{
		"Host": check.Err(b.Host()), "HostMut": check.Err(b.HostMut()), "HostOverwrite": check.Err(b.HostOverwrite()),
		"HostRange": check.Err(b.HostRange(0, 1)), "HostMutRange": check.Err(b.HostMutRange(0, 1)),
		"Device": check.Err(b.Device()), "DeviceMut": check.Err(b.DeviceMut()), "DeviceOverwrite": check.Err(b.DeviceOverwrite()),
		"DeviceOn": check.Err(b.DeviceOn(s)), "DeviceMutOn": check.Err(b.DeviceMutOn(s)), "DeviceOverwriteOn": check.Err(b.DeviceOverwriteOn(s)),
		"SyncToDevice": b.SyncToDevice(), "SyncToHost": b.SyncToHost(), "SyncToDeviceOn": b.SyncToDeviceOn(s), "SyncToHostOn": b.SyncToHostOn(s),
		"UsedOn": b.UsedOn(s), "MarkHostDirty": b.MarkHostDirty(), "MarkDeviceDirty": b.MarkDeviceDirty(),
		"CopyFrom": b.CopyFrom(make([]byte, 3)), "CopyTo": b.CopyTo(make([]byte, 3)), "ToSlice": check.Err(b.ToSlice()),
		"Fill": b.Fill(1), "Zero": b.Zero(), "View": check.Err(b.View(0, 1)), "Free": b.Free(), "Release": b.Release(),
	} {
		t.Run(name, func(t *testing.T) { check.Wraps(t, err, unified.ErrReleased) })
	}
}
