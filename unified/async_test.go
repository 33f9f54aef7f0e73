package unified_test

import (
	"slices"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/unified"
)

// An asynchronous copy returns at once; a read of the device side waits.
func TestSyncToDeviceOn(t *testing.T) {
	d, b, s := slow(t, mega)
	check.Must(t, b.Fill(1), b.SyncToDeviceOn(s))
	wantState(t, b, unified.Synchronized)
	wantClock(t, d, 0, 0)
	if got := readDevice(t, d, b); got[mega-1] != 1 || d.Clock() < time.Millisecond {
		t.Errorf("element is %d after %v", got[mega-1], d.Clock())
	}
}

// A host write waits for the copy that still reads it, a host read does not.
func TestHostWriteWaitsForTheCopyThatReads(t *testing.T) {
	d, b, s := slow(t, mega)
	check.Must(t, b.Fill(1), b.SyncToDeviceOn(s))
	m := check.Ok(b.Host())(t)
	if m[0] != 1 || d.Clock() != 0 {
		t.Errorf("a read waited until %v", d.Clock())
	}
	check.Must(t, b.Fill(2))
	wantClock(t, d, time.Millisecond, time.Millisecond)
	wantDevice(t, d, b, 2)
}

// Only elements that are under way are waited for.
func TestHostWriteWaitsForItsElementsOnly(t *testing.T) {
	d, b, s := slow(t, mega)
	check.Must(t, b.Fill(1))
	v := check.Ok(b.View(0, mega/2))(t)
	w := check.Ok(b.View(mega/2, mega))(t)
	check.Must(t, v.SyncToDeviceOn(s), w.Fill(2))
	wantClock(t, d, 0, 0)
	check.Must(t, v.Fill(2))
	wantClock(t, d, time.Millisecond/2, time.Millisecond/2)
}

// A host read waits for the copy that writes it.
func TestSyncToHostOn(t *testing.T) {
	d, b, s := slow(t, mega)
	compute(t, b, s, 5*time.Millisecond, func(m []byte) { m[0] = 7 })
	check.Must(t, b.SyncToHostOn(s))
	wantState(t, b, unified.Synchronized)
	began := d.Clock()
	m := check.Ok(b.Host())(t)
	if m[0] != 7 || d.Clock()-began < 6*time.Millisecond {
		t.Errorf("element is %d after %v", m[0], d.Clock()-began)
	}
}

// Results that are computed late are waited for, without a word of the caller.
func TestHostWaitsForTheKernel(t *testing.T) {
	d, b, s := slow(t, 1000)
	check.Must(t, b.Fill(1))
	compute(t, b, s, time.Second, func(m []byte) { m[0]++ })
	m := check.Ok(b.Host())(t)
	if m[0] != 2 || d.Clock() < time.Second {
		t.Errorf("element is %d after %v", m[0], d.Clock())
	}
}

// One stream waits for another by an event; the caller does not.
func TestStreamsWaitForEachOther(t *testing.T) {
	d := slowSim()
	b, s, s2 := pinned(t, d, 1000), stream(t, d), stream(t, d)
	check.Must(t, b.Fill(1))
	compute(t, b, s, time.Second, func(m []byte) { m[0]++ })
	compute(t, b, s2, time.Second, func(m []byte) { m[0] *= 10 })
	check.Must(t, b.SyncToHostOn(s))
	wantClock(t, d, 0, time.Millisecond)
	m := check.Ok(b.Host())(t)
	if m[0] != 20 || d.Clock() < 2*time.Second {
		t.Errorf("element is %d after %v", m[0], d.Clock())
	}
}

// A copy on another stream waits for a kernel that is the only work.
func TestACopyWaitsForAKernelOfAnotherStream(t *testing.T) {
	d, b, s := slow(t, 1000)
	check.Must(t, b.Fill(1), b.SyncToDevice())
	compute(t, b, s, time.Second, func(m []byte) { m[0] = 7 })
	check.Must(t, b.SyncToHostOn(stream(t, d)))
	wantClock(t, d, 0, time.Millisecond)
	wantHost(t, b, 7)
}

// A copy to the host does not wait for a kernel that only reads.
func TestACopyDoesNotWaitForAReader(t *testing.T) {
	d, b, s := slow(t, 1000)
	check.Must(t, check.Err(b.DeviceMut()), check.Err(b.DeviceOn(s)))
	check.Must(t, s.Launch(time.Second, func(...[]byte) {}), b.UsedOn(s))
	check.Ok(b.Host())(t)
	wantClock(t, d, 0, time.Second/2)
}

// Kernels that only read do not wait for each other; a write waits for all.
func TestReadersDoNotWait(t *testing.T) {
	d := slowSim()
	b, s, s2 := pinned(t, d, 1000), stream(t, d), stream(t, d)
	check.Must(t, b.Fill(1), b.SyncToDevice())
	seen := [2]byte{}
	for i, on := range []*sim.Stream{s, s2} {
		x := check.Ok(b.DeviceOn(on))(t)
		check.Must(t, on.Launch(time.Second, func(args ...[]byte) { seen[i] = args[0][0] }, x))
		check.Must(t, b.UsedOn(on))
	}
	check.Must(t, b.Fill(2)) // the kernels do not use the host side
	wantClock(t, d, 0, time.Millisecond)
	check.Must(t, b.SyncToDevice())
	if d.Clock() < time.Second || seen != [2]byte{1, 1} {
		t.Errorf("%v overwritten after %v", seen, d.Clock())
	}
}

// One copy of several ranges waits for what reads any of them.
func TestACopyOfRangesWaitsForAReader(t *testing.T) {
	for at := range 3 {
		d := slowSim()
		d.Costs(sim.Costs{Call: time.Microsecond, ToDevice: 1e9}) // to copy a byte takes less than a call
		b, s := pinned(t, d, 3), stream(t, d)
		check.Must(t, b.Fill(1), b.SyncToDevice())
		x := check.Ok(check.Ok(b.View(at, at+1))(t).DeviceOn(s))(t)
		seen := byte(0)
		check.Must(t, s.Launch(time.Second, func(args ...[]byte) { seen = args[0][0] }, x), b.UsedOn(s))
		check.Ok(b.HostMutRange(0, 1))(t)[0] = 2
		check.Ok(b.HostMutRange(2, 3))(t)[0] = 2
		calls := d.Stats().CopyCalls
		check.Must(t, b.SyncToDevice())
		if n := d.Stats().CopyCalls - calls; seen != 1 || n != 1 || d.Clock() < time.Second {
			t.Errorf("element %d was read as %d, %d copies after %v", at, seen, n, d.Clock())
		}
	}
}

// A kernel that reads does not hide one before it that has written.
func TestReaderAfterWriter(t *testing.T) {
	_, b, s := slow(t, 1000)
	compute(t, b, s, time.Second, func(m []byte) { m[0] = 1 })
	check.Ok(b.DeviceOn(s))(t)
	check.Must(t, b.UsedOn(s))
	wantHost(t, b, 1)
}

// After UsedOn, later work of the stream does not count.
func TestUsedOn(t *testing.T) {
	for _, said := range []bool{false, true} {
		d := slowSim()
		b, s := pinned(t, d, 1000), stream(t, d)
		compute(t, b, s, time.Second, func([]byte) {})
		if said {
			check.Must(t, b.UsedOn(s))
		}
		check.Must(t, s.Launch(time.Hour, func(args ...[]byte) {}))
		check.Ok(b.Host())(t)
		if waited := d.Clock() > time.Hour; waited == said {
			t.Errorf("said: %v, waited until %v", said, d.Clock())
		}
	}
}

// UsedOn is about its own elements and its own stream: other work is waited for as before.
func TestUsedOnEndsNoOtherUse(t *testing.T) {
	for _, streams := range []int{1, 2} {
		d := slowSim()
		b, s := pinned(t, d, 1000), stream(t, d)
		first, second := check.Ok(b.View(0, 500))(t), check.Ok(b.View(500, 1000))(t)
		of, on := first, s // what UsedOn is called of, and where work goes on
		if streams == 2 {
			of, on = b, stream(t, d)
		}
		compute(t, first, s, time.Second, func([]byte) {})
		compute(t, second, on, time.Second, func([]byte) {})
		check.Must(t, of.UsedOn(s), on.Launch(time.Hour, func(...[]byte) {}))
		check.Ok(first.Host())(t)
		wantClock(t, d, time.Second, time.Hour)
		check.Ok(second.Host())(t)
		wantClock(t, d, time.Hour, 2*time.Hour)
	}
}

// Memory that is freed while a stream uses it is not given to others before.
func TestFreeWhileInUse(t *testing.T) {
	d := slowSim()
	s := stream(t, d)
	a := pinned(t, d, 1000)
	check.Must(t, a.Fill(1))
	x := check.Ok(a.DeviceMutOn(s))(t)
	check.Must(t, s.Launch(time.Second, func(args ...[]byte) { args[0][0] = 9 }, x))
	check.Must(t, a.SyncToHostOn(s), a.Free())
	b := pinned(t, d, 1000)
	check.Must(t, b.Fill(2), b.SyncToDevice(), s.Sync())
	wantDevice(t, d, b, 2)
	wantHost(t, b, slices.Repeat([]byte{2}, 1000)...)
	notUsedAfterFree(t, d)
}

// Memory that comes from a stream's earlier work is not reached by others
// before that is done, in any part.
func TestMemoryOfTheStreamsEarlierWork(t *testing.T) {
	d := slowSim()
	s := stream(t, d)
	a := pinned(t, d, 1000)
	x := check.Ok(a.DeviceMutOn(s))(t)
	check.Must(t, s.Launch(time.Second, func(args ...[]byte) { args[0][500] = 9 }, x))
	check.Must(t, a.Free())
	b := pinned(t, d, 1000)
	v := check.Ok(b.View(0, 10))(t)
	y := check.Ok(v.DeviceOverwriteOn(s))(t)
	if y.Region != x.Region || y.Off != x.Off {
		t.Fatal("the stream did not get its memory again")
	}
	w := check.Ok(b.View(10, 1000))(t)
	check.Must(t, w.Fill(2), w.SyncToDevice(), s.Sync())
	if got := readDevice(t, d, b); got[500] != 2 {
		t.Errorf("device side is %d", got[500])
	}
}

// The list of uses stays short even if no access waits.
func TestManyUses(t *testing.T) {
	_, b, s := slow(t, 1000)
	for i := range 1000 {
		check.Must(t, b.Fill(byte(i)))
		v := check.Ok(b.View(i, i+1))(t)
		check.Must(t, v.SyncToDeviceOn(s))
		check.Ok(v.DeviceOn(s))(t)
	}
	check.Must(t, b.Free())
}

// A stream of no use gives its error, and nothing has changed.
func TestClosedStream(t *testing.T) {
	_, b, s := slow(t, 1000)
	check.Must(t, b.Fill(1), s.Close())
	check.Wraps(t, b.SyncToDeviceOn(s), device.ErrClosed)
	check.Wraps(t, check.Err(b.DeviceMutOn(s)), device.ErrClosed)
	wantState(t, b, unified.HostDirty)
}

// Without a stream the methods for one are those without.
func TestNoStream(t *testing.T) {
	d := slowSim()
	b := pinned(t, d, 3)
	check.Must(t, b.Fill(1), b.SyncToDeviceOn(nil))
	check.Ok(b.DeviceMutOn(nil))(t)
	check.Must(t, b.SyncToHostOn(nil))
	wantHost(t, b, 1, 1, 1)
}
