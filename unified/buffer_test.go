package unified_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/unified"
)

func TestBadShapes(t *testing.T) {
	d := device.NewSim(1 << 20)
	for _, shape := range [][]int{{-1}, {3, -1}, {0, -1}, {math.MaxInt}, {math.MaxInt/2 + 1, 2}} {
		_, err := unified.New[int64](d, shape...)
		wantErr(t, err, device.ErrSize)
	}
}

func TestTypesWithPointers(t *testing.T) {
	d := device.NewSim(1 << 20)
	_, err := unified.New[string](d, 1)
	wantErr(t, err, unified.ErrType)
	_, err = unified.New[*int](d, 1)
	wantErr(t, err, unified.ErrType)
	_, err = unified.New[struct {
		n int
		s []byte
	}](d, 1)
	wantErr(t, err, unified.ErrType)
	b := made[struct {
		X, Y float32
		ID   [4]uint16
	}](t, d, 3)
	if b.SizeBytes() != 48 {
		t.Errorf("%d bytes", b.SizeBytes())
	}
}

func TestNoDevice(t *testing.T) {
	_, err := unified.New[byte](nil, 1)
	wantErr(t, err, device.ErrUnavailable)
	var zero unified.Buffer[byte]
	var none *unified.Buffer[byte]
	for _, b := range []*unified.Buffer[byte]{&zero, none} {
		_, err = b.Host()
		wantErr(t, err, unified.ErrReleased)
		wantErr(t, b.Free(), unified.ErrReleased)
		if b.Len() != 0 || b.SizeBytes() != 0 || b.Shape() != nil || b.State() != unified.Uninitialized || b.Pinned() {
			t.Error("a buffer of nothing has something")
		}
	}
}

// Empty buffers are valid, and have no business with the device.
func TestEmptyBuffers(t *testing.T) {
	d := device.NewSim(1 << 20)
	for _, b := range []*unified.Buffer[int32]{made[int32](t, d, 0), made[int32](t, d, 5, 0)} {
		m, err := b.HostMut()
		must(t, err)
		x, err := b.DeviceMut()
		must(t, err)
		if len(m) != 0 || m == nil || x != (device.Block{}) || b.State() != unified.Uninitialized {
			t.Errorf("%v, %v, %v", m, x, b.State())
		}
		must(t, b.MarkHostDirty())
		must(t, b.MarkDeviceDirty())
		must(t, b.Fill(1))
		must(t, b.CopyFrom(nil))
		must(t, b.Free())
	}
	none := made[struct{}](t, d, 5)
	m, err := none.HostMut()
	must(t, err)
	_, err = none.Device()
	must(t, err)
	if len(m) != 5 || none.SizeBytes() != 0 {
		t.Errorf("%d elements of %d bytes", len(m), none.SizeBytes())
	}
	if s := d.Stats(); s.AllocCalls+s.CopyCalls != 0 {
		t.Errorf("%+v", s)
	}
}

// No dimensions are one element.
func TestScalar(t *testing.T) {
	d := device.NewSim(1 << 20)
	b := made[float64](t, d)
	must(t, b.Fill(1.5))
	wantHost(t, b, 1.5)
}

func TestLengthsAndRanges(t *testing.T) {
	d := device.NewSim(1 << 20)
	b := made[byte](t, d, 10)
	wantErr(t, b.CopyFrom(make([]byte, 9)), device.ErrSize)
	wantErr(t, b.CopyTo(make([]byte, 11)), device.ErrSize)
	for _, r := range [][2]int{{-1, 5}, {5, 4}, {0, 11}, {11, 11}} {
		_, err := b.HostRange(r[0], r[1])
		wantErr(t, err, device.ErrSize)
		_, err = b.HostMutRange(r[0], r[1])
		wantErr(t, err, device.ErrSize)
		_, err = b.View(r[0], r[1])
		wantErr(t, err, device.ErrSize)
	}
	wantState(t, b, unified.Uninitialized)
	m, err := b.HostRange(2, 5)
	must(t, err)
	if len(m) != 3 || cap(m) != 3 {
		t.Errorf("length %d, capacity %d", len(m), cap(m))
	}
}

// Views share memory and residency with their buffer; only their elements move.
func TestViews(t *testing.T) {
	d := device.NewSim(1 << 20)
	b := made[int32](t, d, 10, 10)
	must(t, b.Fill(1))
	must(t, b.SyncToDevice())
	v, err := b.View(20, 60)
	must(t, err)
	w, err := v.View(10, 20) // 30 to 40
	must(t, err)
	must(t, w.Fill(2))
	wantState(t, w, unified.HostDirty)
	wantState(t, b, unified.HostDirty)
	before := d.Stats()
	block, err := v.Device()
	must(t, err)
	if block.Len != 160 {
		t.Errorf("a block of %d bytes", block.Len)
	}
	if n := d.Stats().ToDeviceBytes - before.ToDeviceBytes; n != 40 {
		t.Errorf("%d bytes moved, 40 were written", n)
	}
	wantState(t, b, unified.Synchronized)
	rest, err := b.View(60, 100)
	must(t, err)
	_, err = rest.DeviceMut()
	must(t, err)
	wantState(t, v, unified.Synchronized)
	wantState(t, b, unified.DeviceDirty)
	m, err := b.HostRange(30, 31)
	must(t, err)
	if m[0] != 2 || d.Stats().ToHostBytes != 0 {
		t.Errorf("%d, after %d bytes to the host", m[0], d.Stats().ToHostBytes)
	}
	// Writes on different sides that do not meet are no conflict.
	must(t, w.MarkHostDirty())
	wantErr(t, b.MarkHostDirty(), unified.ErrConflict)
	wantErr(t, v.Free(), unified.ErrView)
	must(t, b.Free())
	wantErr(t, v.Fill(1), unified.ErrReleased)
}

// The whole as a view can end the buffer.
func TestViewOfAll(t *testing.T) {
	d := device.NewSim(1 << 20)
	b := made[byte](t, d, 10)
	v, err := b.View(0, 10)
	must(t, err)
	must(t, v.Free())
	wantErr(t, b.Free(), unified.ErrReleased)
}

func TestStateText(t *testing.T) {
	if s := fmt.Sprint(unified.HostDirty, unified.State(99)); s != "HostDirty State(?)" {
		t.Error(s)
	}
}

// Nothing is taken from the device before its side is asked for.
func TestMemoryIsTakenAtFirstUse(t *testing.T) {
	d := device.NewSim(0) // always full
	b := made[byte](t, d, 1000)
	must(t, b.Fill(1))
	must(t, b.Free())
}

// Devices without an error of their own take part.
func TestOnEveryDevice(t *testing.T) {
	for _, name := range []string{"heap", "mmap", "sim", "sim:late=3"} {
		d, err := device.Open(name)
		must(t, err)
		b := made[byte](t, d, 3)
		must(t, b.CopyFrom([]byte{1, 2, 3}))
		writeDevice(t, d, b, 4, 5, 6)
		wantHost(t, b, 4, 5, 6)
		must(t, b.Free())
		must(t, d.Close())
	}
	d, err := device.Open("virtual")
	must(t, err)
	b := made[byte](t, d, 3)
	must(t, b.Fill(1))
	wantErr(t, b.SyncToDevice(), device.ErrUnavailable) // there is no memory behind it
	wantHost(t, b, 1, 1, 1)
}

func TestClosedDevice(t *testing.T) {
	d := device.NewSim(1 << 20)
	b := made[byte](t, d, 3)
	must(t, b.Fill(1))
	must(t, b.SyncToDevice())
	must(t, b.Fill(2))
	must(t, d.Close())
	wantErr(t, b.SyncToDevice(), device.ErrClosed)
	wantHost(t, b, 2, 2, 2)
	must(t, b.Free())
	c := made[byte](t, d, 3)
	must(t, c.SyncToHost())
	_, err := c.Device()
	wantErr(t, err, device.ErrClosed)
}
