package unified_test

import (
	"slices"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/unified"
)

// What PyDotCompute's documents and tests of UnifiedBuffer ask for, told again.

func TestSeedCreation(t *testing.T) {
	d := device.NewSim(1 << 20)
	b := made[float32](t, d, 10, 20)
	wantState(t, b, unified.Uninitialized)
	if b.Len() != 200 || b.SizeBytes() != 800 || !slices.Equal(b.Shape(), []int{10, 20}) || b.Shape()[0] != 10 {
		t.Errorf("%d elements, %d bytes, %v", b.Len(), b.SizeBytes(), b.Shape())
	}
	if c := made[float64](t, d, 4, 5, 6); c.Len() != 120 || c.SizeBytes() != 960 {
		t.Errorf("%d elements, %d bytes", c.Len(), c.SizeBytes())
	}
	if c := made[float32](t, d, 7); !slices.Equal(c.Shape(), []int{7}) {
		t.Errorf("shape %v", c.Shape())
	}
}

func TestSeedElementTypes(t *testing.T) {
	d := device.NewSim(1 << 20)
	for _, bytes := range []struct{ got, want int }{
		{made[float32](t, d, 3).SizeBytes(), 12}, {made[float64](t, d, 3).SizeBytes(), 24},
		{made[int32](t, d, 3).SizeBytes(), 12}, {made[int64](t, d, 3).SizeBytes(), 24},
		{made[uint8](t, d, 3).SizeBytes(), 3}, {made[complex64](t, d, 3).SizeBytes(), 24},
	} {
		if bytes.got != bytes.want {
			t.Errorf("%d bytes, want %d", bytes.got, bytes.want)
		}
	}
}

// The table of transitions of the document, row by row.
func TestSeedStateTransitions(t *testing.T) {
	d := device.NewSim(1 << 20)
	b := made[byte](t, d, 3)
	wantHost(t, b, 0, 0, 0)
	wantState(t, b, unified.HostOnly)
	readDevice(t, d, b)
	wantState(t, b, unified.Synchronized)
	m, err := b.HostMut()
	must(t, err)
	copy(m, "abc")
	wantState(t, b, unified.HostDirty)
	if got := readDevice(t, d, b); string(got) != "abc" {
		t.Errorf("device side is %q", got)
	}
	wantState(t, b, unified.Synchronized)
	writeDevice(t, d, b, []byte("xyz")...)
	wantState(t, b, unified.DeviceDirty)
	wantHost(t, b, []byte("xyz")...)
	wantState(t, b, unified.Synchronized)
}

func TestSeedMarkHostDirty(t *testing.T) {
	d := device.NewSim(1 << 20)
	b := made[byte](t, d, 3)
	wantHost(t, b, 0, 0, 0)
	must(t, b.MarkHostDirty())
	wantState(t, b, unified.HostDirty)
	readDevice(t, d, b)
	wantState(t, b, unified.Synchronized)
}

func TestSeedMarkDeviceDirty(t *testing.T) {
	d := device.NewSim(1 << 20)
	b := made[byte](t, d, 3)
	must(t, b.CopyFrom([]byte{1, 2, 3}))
	block, err := b.Device()
	must(t, err)
	must(t, d.Copy(block, device.Host([]byte{4, 5, 6})))
	must(t, b.MarkDeviceDirty())
	wantState(t, b, unified.DeviceDirty)
	wantHost(t, b, 4, 5, 6)
	wantState(t, b, unified.Synchronized)
}

// copy_from, zeros and fill allocate if they need to, and leave HOST_DIRTY.
func TestSeedCopyFromZeroFill(t *testing.T) {
	d := device.NewSim(1 << 20)
	for name, write := range map[string]func(*unified.Buffer[byte]) error{
		"CopyFrom": func(b *unified.Buffer[byte]) error { return b.CopyFrom([]byte{5, 5, 5}) },
		"Fill":     func(b *unified.Buffer[byte]) error { return b.Fill(5) },
		"Zero":     func(b *unified.Buffer[byte]) error { return b.Zero() },
	} {
		b := made[byte](t, d, 3)
		must(t, write(b))
		wantState(t, b, unified.HostDirty)
		want := []byte{5, 5, 5}
		if name == "Zero" {
			want = []byte{0, 0, 0}
		}
		wantHost(t, b, want...)
		writeDevice(t, d, b, 1, 2, 3)
		must(t, write(b))
		wantHost(t, b, want...)
		if got := readDevice(t, d, b); !slices.Equal(got, want) {
			t.Errorf("%s: device side is %v", name, got)
		}
	}
}

func TestSeedCopyTo(t *testing.T) {
	d := device.NewSim(1 << 20)
	b := made[byte](t, d, 3)
	writeDevice(t, d, b, 1, 2, 3)
	m := make([]byte, 3)
	must(t, b.CopyTo(m))
	own, err := b.ToSlice()
	must(t, err)
	if !slices.Equal(m, []byte{1, 2, 3}) || !slices.Equal(own, m) {
		t.Errorf("%v, %v", m, own)
	}
	own[0] = 9 // is the caller's own
	wantHost(t, b, 1, 2, 3)
}

// An index write sets HOST_DIRTY, an index read does not.
func TestSeedIndexing(t *testing.T) {
	d := device.NewSim(1 << 20)
	b := made[byte](t, d, 10)
	must(t, b.Fill(1))
	must(t, b.SyncToDevice())
	m, err := b.HostRange(3, 4)
	must(t, err)
	if m[0] != 1 {
		t.Errorf("element is %d", m[0])
	}
	wantState(t, b, unified.Synchronized)
	m, err = b.HostMutRange(3, 4)
	must(t, err)
	m[0] = 2
	wantState(t, b, unified.HostDirty)
	before := d.Stats().ToDeviceBytes
	if got := readDevice(t, d, b); got[3] != 2 || got[2] != 1 {
		t.Errorf("device side is %v", got)
	}
	if n := d.Stats().ToDeviceBytes - before; n != 1 {
		t.Errorf("%d bytes moved", n)
	}
}

// synchronize, ensure_on_host and ensure_on_device do nothing when in sync.
func TestSeedSynchronize(t *testing.T) {
	d := device.NewSim(1 << 20)
	b := made[byte](t, d, 3)
	must(t, b.Fill(1))
	for range 3 {
		must(t, b.SyncToDevice())
		must(t, b.SyncToHost())
		wantState(t, b, unified.Synchronized)
	}
	if n := d.Stats().CopyCalls; n != 1 {
		t.Errorf("%d copies", n)
	}
	writeDevice(t, d, b, 1, 2, 3)
	must(t, b.SyncToDevice()) // has nothing to do
	wantState(t, b, unified.DeviceDirty)
	must(t, b.SyncToHost())
	wantState(t, b, unified.Synchronized)
}

// free leaves UNINITIALIZED, and memory goes back.
func TestSeedFree(t *testing.T) {
	d := device.NewSim(1 << 20)
	b := made[byte](t, d, 1<<19)
	must(t, b.Fill(1))
	must(t, b.SyncToDevice())
	must(t, b.Free())
	wantState(t, b, unified.Uninitialized)
	c := made[byte](t, d, 1<<19) // there is no room for two
	must(t, c.Fill(2))
	must(t, c.SyncToDevice())
	d2 := made[byte](t, d, 1<<20)
	must(t, c.Free())
	must(t, d2.SyncToDevice())
	_, err := d2.Device()
	must(t, err)
}

// host, device and marks of what has no memory any more are errors.
func TestSeedNotAllocated(t *testing.T) {
	d := device.NewSim(1 << 20)
	b := made[byte](t, d, 3)
	s, err := d.NewStream()
	must(t, err)
	must(t, b.Free())
	for name, f := range map[string]func() error{
		"Host": func() error { _, err := b.Host(); return err }, "HostMut": func() error { _, err := b.HostMut(); return err },
		"HostOverwrite": func() error { _, err := b.HostOverwrite(); return err },
		"HostRange":     func() error { _, err := b.HostRange(0, 1); return err }, "HostMutRange": func() error { _, err := b.HostMutRange(0, 1); return err },
		"Device": func() error { _, err := b.Device(); return err }, "DeviceMut": func() error { _, err := b.DeviceMut(); return err },
		"DeviceOverwrite": func() error { _, err := b.DeviceOverwrite(); return err },
		"DeviceOn":        func() error { _, err := b.DeviceOn(s); return err }, "DeviceMutOn": func() error { _, err := b.DeviceMutOn(s); return err },
		"DeviceOverwriteOn": func() error { _, err := b.DeviceOverwriteOn(s); return err },
		"SyncToDevice":      b.SyncToDevice, "SyncToHost": b.SyncToHost,
		"SyncToDeviceOn": func() error { return b.SyncToDeviceOn(s) }, "SyncToHostOn": func() error { return b.SyncToHostOn(s) },
		"UsedOn": func() error { return b.UsedOn(s) }, "MarkHostDirty": b.MarkHostDirty, "MarkDeviceDirty": b.MarkDeviceDirty,
		"CopyFrom": func() error { return b.CopyFrom(make([]byte, 3)) }, "CopyTo": func() error { return b.CopyTo(make([]byte, 3)) },
		"ToSlice": func() error { _, err := b.ToSlice(); return err }, "Fill": func() error { return b.Fill(1) }, "Zero": b.Zero,
		"View": func() error { _, err := b.View(0, 1); return err }, "Free": b.Free, "Release": b.Release,
	} {
		t.Run(name, func(t *testing.T) { wantErr(t, f(), unified.ErrReleased) })
	}
}
