package unified_test

import (
	"slices"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/unified"
)

// A simulated device on which a megabyte takes a millisecond either way.
func slowSim() *device.Sim {
	d := device.NewSim(1 << 30)
	d.Costs(device.SimCosts{ToDevice: 1e9, ToHost: 1e9, Within: 1e9, Pageable: 1e9})
	return d
}

func stream(t testing.TB, d device.Device) *device.SimStream {
	t.Helper()
	s, err := d.NewStream()
	must(t, err)
	return s.(*device.SimStream)
}

func pinned(t testing.TB, d device.Device, n int) *unified.Buffer[byte] {
	t.Helper()
	b, err := unified.NewPinned[byte](d, n)
	must(t, err)
	return b
}

const mega = 1_000_000

// An asynchronous copy returns at once; who reads the device side waits.
func TestSyncToDeviceOn(t *testing.T) {
	d := slowSim()
	b, s := pinned(t, d, mega), stream(t, d)
	must(t, b.Fill(1))
	must(t, b.SyncToDeviceOn(s))
	wantState(t, b, unified.Synchronized)
	if d.Clock() != 0 {
		t.Errorf("enqueueing took %v", d.Clock())
	}
	if got := readDevice(t, d, b); got[mega-1] != 1 || d.Clock() < time.Millisecond {
		t.Errorf("element is %d after %v", got[mega-1], d.Clock())
	}
}

// A host write waits for the copy that still reads it, a host read does not.
func TestHostWriteWaitsForTheCopyThatReads(t *testing.T) {
	d := slowSim()
	b, s := pinned(t, d, mega), stream(t, d)
	must(t, b.Fill(1))
	must(t, b.SyncToDeviceOn(s))
	m, err := b.Host()
	must(t, err)
	if m[0] != 1 || d.Clock() != 0 {
		t.Errorf("a read waited until %v", d.Clock())
	}
	must(t, b.Fill(2))
	if d.Clock() != time.Millisecond {
		t.Errorf("a write waited until %v", d.Clock())
	}
	if got := readDevice(t, d, b); got[0] != 2 {
		t.Errorf("element is %d", got[0])
	}
}

// Only elements that are under way are waited for.
func TestHostWriteWaitsForItsElementsOnly(t *testing.T) {
	d := slowSim()
	b, s := pinned(t, d, mega), stream(t, d)
	must(t, b.Fill(1))
	v, err := b.View(0, mega/2)
	must(t, err)
	w, err := b.View(mega/2, mega)
	must(t, err)
	must(t, v.SyncToDeviceOn(s))
	must(t, w.Fill(2))
	if d.Clock() != 0 {
		t.Errorf("waited until %v", d.Clock())
	}
	must(t, v.Fill(2))
	if d.Clock() != time.Millisecond/2 {
		t.Errorf("waited until %v", d.Clock())
	}
}

// A host read waits for the copy that writes it.
func TestSyncToHostOn(t *testing.T) {
	d := slowSim()
	b, s := pinned(t, d, mega), stream(t, d)
	x, err := b.DeviceMutOn(s)
	must(t, err)
	must(t, s.Launch(5*time.Millisecond, func(args ...[]byte) { args[0][0] = 7 }, x))
	must(t, b.SyncToHostOn(s))
	wantState(t, b, unified.Synchronized)
	began := d.Clock()
	m, err := b.Host()
	must(t, err)
	if m[0] != 7 || d.Clock()-began < 6*time.Millisecond {
		t.Errorf("element is %d after %v", m[0], d.Clock()-began)
	}
}

// Results that are computed late are waited for, without a word of the caller.
func TestHostWaitsForTheKernel(t *testing.T) {
	d := slowSim()
	b, s := pinned(t, d, 1000), stream(t, d)
	must(t, b.Fill(1))
	x, err := b.DeviceMutOn(s)
	must(t, err)
	must(t, s.Launch(time.Second, func(args ...[]byte) { args[0][0]++ }, x))
	m, err := b.Host()
	must(t, err)
	if m[0] != 2 || d.Clock() < time.Second {
		t.Errorf("element is %d after %v", m[0], d.Clock())
	}
}

// One stream waits for another by an event; the caller does not.
func TestStreamsWaitForEachOther(t *testing.T) {
	d := slowSim()
	b, s, s2 := pinned(t, d, 1000), stream(t, d), stream(t, d)
	must(t, b.Fill(1))
	x, err := b.DeviceMutOn(s)
	must(t, err)
	must(t, s.Launch(time.Second, func(args ...[]byte) { args[0][0]++ }, x))
	x, err = b.DeviceMutOn(s2)
	must(t, err)
	must(t, s2.Launch(time.Second, func(args ...[]byte) { args[0][0] *= 10 }, x))
	must(t, b.SyncToHostOn(s))
	if d.Clock() > time.Millisecond {
		t.Errorf("the caller waited until %v", d.Clock())
	}
	m, err := b.Host()
	must(t, err)
	if m[0] != 20 || d.Clock() < 2*time.Second {
		t.Errorf("element is %d after %v", m[0], d.Clock())
	}
}

// Kernels that only read do not wait for each other; who writes waits for all.
func TestReadersDoNotWait(t *testing.T) {
	d := slowSim()
	b, s, s2 := pinned(t, d, 1000), stream(t, d), stream(t, d)
	must(t, b.Fill(1))
	must(t, b.SyncToDevice())
	seen := [2]byte{}
	for i, on := range []*device.SimStream{s, s2} {
		x, err := b.DeviceOn(on)
		must(t, err)
		must(t, on.Launch(time.Second, func(args ...[]byte) { seen[i] = args[0][0] }, x))
		must(t, b.UsedOn(on))
	}
	must(t, b.Fill(2)) // the host side is nobody's concern
	if d.Clock() > time.Millisecond {
		t.Errorf("waited until %v", d.Clock())
	}
	must(t, b.SyncToDevice())
	if d.Clock() < time.Second || seen != [2]byte{1, 1} {
		t.Errorf("%v overwritten after %v", seen, d.Clock())
	}
}

// A kernel that reads does not hide one before it that has written.
func TestReaderAfterWriter(t *testing.T) {
	d := slowSim()
	b, s := pinned(t, d, 1000), stream(t, d)
	x, err := b.DeviceMutOn(s)
	must(t, err)
	must(t, s.Launch(time.Second, func(args ...[]byte) { args[0][0] = 1 }, x))
	_, err = b.DeviceOn(s)
	must(t, err)
	must(t, b.UsedOn(s))
	m, err := b.Host()
	must(t, err)
	if m[0] != 1 {
		t.Errorf("host side is %d", m[0])
	}
}

// UsedOn says that later work of the stream is somebody else's.
func TestUsedOn(t *testing.T) {
	for _, said := range []bool{false, true} {
		d := slowSim()
		b, s := pinned(t, d, 1000), stream(t, d)
		x, err := b.DeviceMutOn(s)
		must(t, err)
		must(t, s.Launch(time.Second, func(args ...[]byte) {}, x))
		if said {
			must(t, b.UsedOn(s))
		}
		must(t, s.Launch(time.Hour, func(args ...[]byte) {}))
		_, err = b.Host()
		must(t, err)
		if waited := d.Clock() > time.Hour; waited == said {
			t.Errorf("said: %v, waited until %v", said, d.Clock())
		}
	}
}

// Memory that is freed while a stream uses it is not given to others before.
func TestFreeWhileInUse(t *testing.T) {
	d := slowSim()
	s := stream(t, d)
	a := pinned(t, d, 1000)
	must(t, a.Fill(1))
	x, err := a.DeviceMutOn(s)
	must(t, err)
	must(t, s.Launch(time.Second, func(args ...[]byte) { args[0][0] = 9 }, x))
	must(t, a.SyncToHostOn(s))
	must(t, a.Free())
	b := pinned(t, d, 1000)
	must(t, b.Fill(2))
	must(t, b.SyncToDevice())
	must(t, s.Sync())
	if got := readDevice(t, d, b); got[0] != 2 {
		t.Errorf("device side is %d", got[0])
	}
	wantHost(t, b, slices.Repeat([]byte{2}, 1000)...)
	if n := d.Stats().UsedAfterFree; n != 0 {
		t.Errorf("%d pieces of work came to freed memory", n)
	}
}

// Memory that comes from a stream's earlier work is not reached by others
// before that is done, in any part.
func TestMemoryOfTheStreamsEarlierWork(t *testing.T) {
	d := slowSim()
	s := stream(t, d)
	a := pinned(t, d, 1000)
	x, err := a.DeviceMutOn(s)
	must(t, err)
	must(t, s.Launch(time.Second, func(args ...[]byte) { args[0][500] = 9 }, x))
	must(t, a.Free())
	b := pinned(t, d, 1000)
	v, err := b.View(0, 10)
	must(t, err)
	y, err := v.DeviceOverwriteOn(s)
	must(t, err)
	if y.Region != x.Region || y.Off != x.Off {
		t.Fatal("the stream did not get its memory again")
	}
	w, err := b.View(10, 1000)
	must(t, err)
	must(t, w.Fill(2))
	must(t, w.SyncToDevice())
	must(t, s.Sync())
	if got := readDevice(t, d, b); got[500] != 2 {
		t.Errorf("device side is %d", got[500])
	}
}

// Who never waits has a short list of what is under way all the same.
func TestManyUses(t *testing.T) {
	d := slowSim()
	b, s := pinned(t, d, 1000), stream(t, d)
	for i := range 1000 {
		must(t, b.Fill(byte(i)))
		v, err := b.View(i, i+1)
		must(t, err)
		must(t, v.SyncToDeviceOn(s))
		_, err = v.DeviceOn(s)
		must(t, err)
	}
	must(t, b.Free())
}

// A stream of no use gives its error, and nothing has changed.
func TestClosedStream(t *testing.T) {
	d := slowSim()
	b, s := pinned(t, d, 1000), stream(t, d)
	must(t, b.Fill(1))
	must(t, s.Close())
	wantErr(t, b.SyncToDeviceOn(s), device.ErrClosed)
	_, err := b.DeviceMutOn(s)
	wantErr(t, err, device.ErrClosed)
	wantState(t, b, unified.HostDirty)
}

// Without a stream the methods for one are those without.
func TestNoStream(t *testing.T) {
	d := slowSim()
	b := pinned(t, d, 3)
	must(t, b.Fill(1))
	must(t, b.SyncToDeviceOn(nil))
	_, err := b.DeviceMutOn(nil)
	must(t, err)
	must(t, b.SyncToHostOn(nil))
	wantHost(t, b, 1, 1, 1)
}
