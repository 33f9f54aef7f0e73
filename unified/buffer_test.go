package unified_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
)

func TestBadShapes(t *testing.T) {
	d := sim.New(1 << 20)
	for _, shape := range [][]int{{-1}, {3, -1}, {0, -1}, {math.MaxInt}, {math.MaxInt/2 + 1, 2}} {
		check.Wraps(t, check.Err(unified.New[int64](d, shape...)), device.ErrSize)
	}
}

func TestTypesWithPointers(t *testing.T) {
	d := sim.New(1 << 20)
	check.Wraps(t, check.Err(unified.New[string](d, 1)), unified.ErrType)
	check.Wraps(t, check.Err(unified.New[*int](d, 1)), unified.ErrType)
	check.Wraps(t, check.Err(unified.New[struct{ s []byte }](d, 1)), unified.ErrType)
	type point struct {
		X, Y float32
		ID   [4]uint16
	}
	if n := made[point](t, d, 3).SizeBytes(); n != 48 {
		t.Errorf("%d bytes", n)
	}
}

func TestNoDevice(t *testing.T) {
	check.Wraps(t, check.Err(unified.New[byte](nil, 1)), device.ErrUnavailable)
	var zero unified.Buffer[byte]
	var none *unified.Buffer[byte]
	for _, b := range []*unified.Buffer[byte]{&zero, none} {
		check.Wraps(t, check.Err(b.Host()), unified.ErrReleased)
		check.Wraps(t, b.Free(), unified.ErrReleased)
		if b.Len() != 0 || b.SizeBytes() != 0 || b.Shape() != nil || b.State() != unified.Uninitialized || b.Pinned() {
			t.Error("a buffer of nothing has something")
		}
	}
}

// Empty buffers are valid, and have no business with the device.
func TestEmptyBuffers(t *testing.T) {
	d := sim.New(1 << 20)
	for _, b := range []*unified.Buffer[int32]{made[int32](t, d, 0), made[int32](t, d, 5, 0)} {
		m := check.Ok(b.HostMut())(t)
		x := check.Ok(b.DeviceMut())(t)
		if len(m) != 0 || m == nil || x != (device.Block{}) || b.State() != unified.Uninitialized {
			t.Errorf("%v, %v, %v", m, x, b.State())
		}
		check.Must(t, b.MarkHostDirty(), b.MarkDeviceDirty(), b.Fill(1), b.CopyFrom(nil), b.Free())
	}
	none := made[struct{}](t, d, 5)
	m := check.Ok(none.HostMut())(t)
	check.Ok(none.Device())(t)
	if len(m) != 5 || none.SizeBytes() != 0 {
		t.Errorf("%d elements of %d bytes", len(m), none.SizeBytes())
	}
	if s := d.Stats(); s.AllocCalls+s.CopyCalls != 0 {
		t.Errorf("%+v", s)
	}
}

// No dimensions are one element.
func TestScalar(t *testing.T) {
	d := sim.New(1 << 20)
	b := made[float64](t, d)
	check.Must(t, b.Fill(1.5))
	wantState(t, b, unified.HostDirty)
	block := check.Ok(b.DeviceMut())(t)
	got := make([]byte, 8)
	check.Must(t, d.Copy(device.Host(got), block))
	if bits := binary.NativeEndian.Uint64(got); bits != math.Float64bits(1.5) {
		t.Errorf("the device side is %x", bits)
	}
	wantState(t, b, unified.DeviceDirty)
	wantHost(t, b, 1.5)
}

func TestLengthsAndRanges(t *testing.T) {
	d := sim.New(1 << 20)
	b := made[byte](t, d, 10)
	check.Wraps(t, b.CopyFrom(make([]byte, 9)), device.ErrSize)
	check.Wraps(t, b.CopyTo(make([]byte, 11)), device.ErrSize)
	for _, r := range [][2]int{{-1, 5}, {5, 4}, {0, 11}, {11, 11}} {
		check.Wraps(t, check.Err(b.HostRange(r[0], r[1])), device.ErrSize)
		check.Wraps(t, check.Err(b.HostMutRange(r[0], r[1])), device.ErrSize)
		check.Wraps(t, check.Err(b.View(r[0], r[1])), device.ErrSize)
	}
	wantState(t, b, unified.Uninitialized)
	m := check.Ok(b.HostRange(2, 5))(t)
	if len(m) != 3 || cap(m) != 3 {
		t.Errorf("length %d, capacity %d", len(m), cap(m))
	}
}

// Views share memory and residency with their buffer; only their elements move.
func TestViews(t *testing.T) {
	d := sim.New(1 << 20)
	b := made[int32](t, d, 10, 10)
	check.Must(t, b.Fill(1), b.SyncToDevice())
	v := check.Ok(b.View(20, 60))(t)
	if v.Len() != 40 || v.SizeBytes() != 160 || !slices.Equal(v.Shape(), []int{40}) {
		t.Errorf("a view of %d elements, %d bytes, shape %v", v.Len(), v.SizeBytes(), v.Shape())
	}
	check.Wraps(t, check.Err(v.View(0, 41)), device.ErrSize)
	w := check.Ok(v.View(10, 20))(t) // 30 to 40
	check.Must(t, w.Fill(2))
	wantState(t, w, unified.HostDirty)
	wantState(t, b, unified.HostDirty)
	before := d.Stats()
	block := check.Ok(v.Device())(t)
	if block.Len != 160 {
		t.Errorf("a block of %d bytes", block.Len)
	}
	if n := d.Stats().ToDeviceBytes - before.ToDeviceBytes; n != 40 {
		t.Errorf("%d bytes moved, 40 were written", n)
	}
	wantState(t, b, unified.Synchronized)
	rest := check.Ok(b.View(60, 100))(t)
	check.Ok(rest.DeviceMut())(t)
	wantState(t, v, unified.Synchronized)
	wantState(t, b, unified.DeviceDirty)
	m := check.Ok(b.HostRange(30, 31))(t)
	if m[0] != 2 || d.Stats().ToHostBytes != 0 {
		t.Errorf("%d, after %d bytes to the host", m[0], d.Stats().ToHostBytes)
	}
	// Writes on different sides that do not meet are no conflict.
	check.Must(t, w.MarkHostDirty())
	check.Wraps(t, b.MarkHostDirty(), unified.ErrConflict)
	check.Wraps(t, v.Free(), unified.ErrView)
	check.Must(t, b.Free())
	check.Wraps(t, v.Fill(1), unified.ErrReleased)
}

// The whole as a view can end the buffer.
func TestViewOfAll(t *testing.T) {
	d := sim.New(1 << 20)
	b := made[byte](t, d, 10)
	v := check.Ok(b.View(0, 10))(t)
	check.Must(t, v.Free())
	check.Wraps(t, b.Free(), unified.ErrReleased)
}

// After Free every call that has an error says so, whatever else is wrong.
func TestEveryCallAfterFree(t *testing.T) {
	d := sim.New(1 << 20)
	s := stream(t, d)
	b := made[byte](t, d, 10)
	check.Must(t, b.Free())
	for _, of := range []*unified.Buffer[byte]{b, {}, nil} {
		for i, err := range []error{
			of.SyncToDeviceOn(s), of.SyncToHostOn(s), check.Err(of.DeviceOn(s)), check.Err(of.DeviceMutOn(s)),
			check.Err(of.DeviceOverwriteOn(s)), of.UsedOn(s), of.UsedOn(nil), of.Free(), of.Release(),
			check.Err(of.Device()), check.Err(of.DeviceMut()), check.Err(of.DeviceOverwrite()), of.SyncToDevice(),
			of.MarkDeviceDirty(), check.Err(of.Host()), check.Err(of.HostMut()), check.Err(of.HostOverwrite()),
			check.Err(of.HostRange(3, 99)), check.Err(of.HostMutRange(2, 1)), of.SyncToHost(), of.MarkHostDirty(),
			of.CopyFrom(make([]byte, 3)), of.CopyTo(make([]byte, 11)), check.Err(of.ToSlice()), of.Fill(1), of.Zero(),
			check.Err(of.View(-1, 2)),
		} {
			if !errors.Is(err, unified.ErrReleased) {
				t.Errorf("call %d of %v: %v", i, of, err)
			}
		}
	}
}

func TestStateText(t *testing.T) {
	if s := fmt.Sprint(unified.HostDirty, unified.DeviceDirty, unified.DeviceDirty+1, unified.State(99)); s != "HostDirty DeviceDirty State(?) State(?)" {
		t.Error(s)
	}
}

// Nothing is taken from the device before its side is asked for.
func TestMemoryIsTakenAtFirstUse(t *testing.T) {
	d := sim.New(0) // always full
	b := made[byte](t, d, 1000)
	check.Must(t, b.Fill(1), b.Free())
}

// An access of no elements, or one that has nothing to bring up to date, takes no memory of either side.
func TestAccessesThatTakeNoMemory(t *testing.T) {
	d := sim.New(1 << 20)
	host, dev := slabOn(t, heap(t), slab.Config{}), slabOn(t, d, slab.Config{})
	b := acquired[byte](t, unified.NewPoolOn(host, dev, unified.PoolConfig{}), 1000)
	s := stream(t, d)
	none := check.Ok(b.View(500, 500))(t)
	check.Must(t, b.SyncToHost(), b.SyncToDevice(), b.SyncToHostOn(s), b.SyncToDeviceOn(s))
	check.Must(t, none.Fill(1), check.Err(none.Host()), check.Err(none.HostMut()), check.Err(none.HostOverwrite()))
	check.Must(t, check.Err(none.DeviceMut()), check.Err(none.DeviceMutOn(s)), check.Err(none.DeviceOverwriteOn(s)))
	check.Wraps(t, b.MarkHostDirty(), unified.ErrUninitialized)
	check.Wraps(t, b.MarkDeviceDirty(), unified.ErrUninitialized)
	if h, d := host.Stats(), dev.Stats(); h.Hits+h.Misses+d.Hits+d.Misses != 0 {
		t.Errorf("%d blocks of the host and %d of the device are out", h.ActiveBlocks, d.ActiveBlocks)
	}
	wantState(t, b, unified.Uninitialized)
	if bothSides(t, b); check.Ok(none.DeviceMut())(t) != (device.Block{}) {
		t.Error("no elements of a buffer with memory have a block")
	}
}

// Devices without an error of their own take part.
func TestOnEveryDevice(t *testing.T) {
	for _, name := range []string{"heap", "mmap", "sim", "sim:late=3"} {
		d := check.Ok(device.Open(name))(t)
		b := made[byte](t, d, 3)
		check.Must(t, b.CopyFrom([]byte{1, 2, 3}))
		writeDevice(t, d, b, 4, 5, 6)
		wantHost(t, b, 4, 5, 6)
		check.Must(t, b.Free(), d.Close())
	}
	d := check.Ok(device.Open("virtual"))(t)
	b := made[byte](t, d, 3)
	check.Must(t, b.Fill(1))
	check.Wraps(t, b.SyncToDevice(), device.ErrUnavailable) // there is no memory behind it
	wantHost(t, b, 1, 1, 1)
}

func TestClosedDevice(t *testing.T) {
	d, b := small(t)
	check.Must(t, b.Fill(1), b.SyncToDevice(), b.Fill(2), d.Close())
	check.Wraps(t, b.SyncToDevice(), device.ErrClosed)
	wantHost(t, b, 2, 2, 2)
	check.Must(t, b.Free())
	c := made[byte](t, d, 3)
	check.Must(t, c.SyncToHost())
	check.Wraps(t, check.Err(c.Device()), device.ErrClosed)
}
