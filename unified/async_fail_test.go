package unified_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/unified"
)

var errLate, errOther = errors.New("late"), errors.New("other")

// A copy that fails late counts as not done, and is made again.
func TestCopyThatFailsLate(t *testing.T) {
	d, b, s := slow(t, mega)
	check.Must(t, b.Fill(1))
	check.Must(t, s.Launch(time.Second, func(...[]byte) {})) // what fails does so when its turn comes
	d.FailCopy(1, errLate)
	check.Must(t, b.SyncToDeviceOn(s))
	wantDevice(t, d, b, 1)
	check.Wraps(t, s.Sync(), errLate) // the stream knows
	writeDevice(t, d, b, slices.Repeat([]byte{5}, mega)...)
	s = stream(t, d)
	check.Must(t, s.Launch(time.Second, func(...[]byte) {}))
	d.FailCopy(1, errLate)
	check.Must(t, b.SyncToHostOn(s))
	wantState(t, b, unified.Synchronized)
	m := check.Ok(b.HostMut())(t)
	if m[0] != 5 {
		t.Errorf("host side is %d", m[0])
	}
}

// Device waits for the zeros that it has the device write: if these fail late, it fails.
func TestZerosThatFailLate(t *testing.T) {
	d, b := small(t)
	d.Late(1)
	d.FailFill(1, errLate)
	check.Wraps(t, check.Err(b.Device()), errLate)
	wantState(t, b, unified.Uninitialized)
	wantDevice(t, d, b, 0, 0, 0)
}

// A buffer has more than MaxRanges dirty ranges, so the short gaps between them count as dirty.
// A late copy into such a gap fails. It is undone, and no write is lost.
func TestCopyThatFailsLateBetweenManyRanges(t *testing.T) {
	const n = 4 * unified.MaxRanges
	for _, toHost := range []bool{true, false} {
		d, b, s := slow(t, n)
		check.Must(t, b.Fill(1), b.SyncToDevice())
		other := func(i int) { // makes element i dirty on the side that is copied to
			v := check.Ok(b.View(i, i+1))(t)
			if toHost {
				check.Must(t, v.Fill(2))
			} else {
				writeDevice(t, d, v, 2)
			}
		}
		v := check.Ok(b.View(1, 2))(t)
		other(0)
		if toHost {
			writeDevice(t, d, v, 7)
		} else {
			check.Must(t, v.Fill(7))
		}
		check.Must(t, s.Launch(time.Second, func(...[]byte) {}))
		d.FailCopy(1, errLate)
		if toHost {
			check.Must(t, v.SyncToHostOn(s))
		} else {
			check.Must(t, v.SyncToDeviceOn(s))
		}
		for i := 2; i < n; i += 2 {
			other(i)
		}
		check.Wraps(t, s.Sync(), errLate)
		if m := check.Ok(b.ToSlice())(t); m[1] != 7 || m[0] != 2 || m[n-2] != 2 {
			t.Errorf("to host %v: elements are %d, %d and %d, want 7, 2 and 2", toHost, m[1], m[0], m[n-2])
		}
		check.Must(t, b.Free())
	}
}

// What a stream has failed to compute shows at every read until it is written
// anew.
func TestKernelThatFailsLate(t *testing.T) {
	d, b, s := slow(t, 4)
	check.Must(t, b.Fill(1))
	x := check.Ok(b.DeviceMutOn(s))(t)
	d.FailLaunch(1, errLate)
	_ = s.Launch(time.Second, func(args ...[]byte) { args[0][0] = 9 }, x)
	for range 2 {
		check.Wraps(t, check.Err(b.Host()), errLate)
		check.Wraps(t, check.Err(b.Device()), errLate)
	}
	check.Must(t, s.Close())
	check.Wraps(t, check.Err(b.Host()), errLate) // it is known by now
	v := check.Ok(b.View(0, 2))(t)
	check.Must(t, v.Fill(3))
	wantHost(t, v, 3)
	check.Ok(v.Device())(t)
	check.Wraps(t, check.Err(b.HostRange(2, 4)), errLate)
	check.Must(t, b.Fill(4))
	wantDevice(t, d, b, 4, 4, 4, 4)
}

// A device that is lost with work under way leaves the host side as it was.
func TestDeviceLostUnderWay(t *testing.T) {
	d, b, s := slow(t, mega)
	check.Must(t, b.Fill(1), b.SyncToDeviceOn(s))
	d.Lose(1)
	_, _ = d.Alloc(1)
	m := check.Ok(b.HostMut())(t)
	if m[0] != 1 {
		t.Errorf("host side is %d", m[0])
	}
	wantState(t, b, unified.HostDirty)
	check.Wraps(t, check.Err(b.Device()), device.ErrDeviceLost)
	check.Must(t, b.Free())
}

// What was built on work that has failed is undone with it: an element that a
// failed fill has left without contents is not current because it was copied on.
func TestWorkBuiltOnWorkThatFails(t *testing.T) {
	d, b, s := slow(t, 4)
	m := check.Ok(b.HostMutRange(1, 2))(t)
	m[0] = 7
	check.Must(t, s.Launch(time.Second, func(...[]byte) {}))
	d.FailFill(2, errLate)
	check.Ok(b.DeviceOn(s))(t) // fills 0, copies 1, fills 2 and 3
	v := check.Ok(b.View(0, 3))(t)
	check.Must(t, v.SyncToHostOn(s))
	wantHost(t, b, 0, 7, 0, 0)
	wantDevice(t, d, b, 0, 7, 0, 0)
}

// Where two ranges are one copy and the zeros between them turn out to have failed, the copy is planned anew: the zeros
// are written, and what lies there on the other side is not copied.
func TestACopyOverZerosThatFailLate(t *testing.T) {
	d := sim.New(1 << 20)
	d.Costs(sim.Costs{Call: time.Microsecond, ToDevice: 1e9}) // to copy a byte takes less than a call
	used := pinned(t, d, 3)
	check.Must(t, used.Fill(9), used.SyncToDevice(), used.Free()) // so that new memory has no zeros
	b, s := pinned(t, d, 3), stream(t, d)
	between := check.Ok(b.View(1, 2))(t)
	check.Must(t, s.Launch(time.Millisecond, func(...[]byte) {})) // what fails does so when its turn comes
	d.FailFill(1, errLate)
	check.Ok(between.DeviceOn(s))(t)
	check.Must(t, between.SyncToHostOn(s))
	for _, i := range []int{0, 2} {
		check.Ok(b.HostMutRange(i, i+1))(t)[0] = 7
	}
	wantDevice(t, d, b, 7, 0, 7)
	wantHost(t, b, 7, 0, 7)
}

// Where two ranges are one copy, the element between them that a failed kernel has written is
// not written anew: every read gives the kernel's error.
func TestAFailureSurvivesACopyOverIt(t *testing.T) {
	d := sim.New(1 << 20)
	d.Costs(sim.Costs{Call: time.Microsecond, ToDevice: 1e9}) // to copy a byte takes less than a call
	b, s := pinned(t, d, 3), stream(t, d)
	check.Must(t, b.Fill(7))
	between := check.Ok(b.View(1, 2))(t)
	m := check.Ok(between.DeviceMutOn(s))(t)
	kernel := func(m ...[]byte) { m[0][0] = 9 }
	check.Must(t, s.Launch(time.Millisecond, kernel, m)) // what fails does so when its turn comes
	d.FailLaunch(1, errLate)
	check.Must(t, s.Launch(0, kernel, m))
	check.Must(t, between.SyncToHostOn(s))
	_, err := b.Device()
	check.Wraps(t, err, errLate)
	_, err = b.Host()
	check.Wraps(t, err, errLate)
}

// An overwrite that comes to nothing, as its stream has failed and cannot wait, writes nothing anew:
// reads still give the error of the kernel before.
func TestAFailureSurvivesAnOverwriteThatIsRefused(t *testing.T) {
	d, b, failing := slow(t, 2)
	check.Must(t, b.Fill(7))
	first, second := check.Ok(b.View(0, 1))(t), check.Ok(b.View(1, 2))(t)
	broken := stream(t, d)
	d.FailLaunch(1, errOther)
	check.Wraps(t, broken.Launch(time.Millisecond, func(...[]byte) {}), errOther)
	m := check.Ok(first.DeviceMutOn(failing))(t)
	d.FailLaunch(1, errLate)
	check.Must(t, failing.Launch(time.Millisecond, func(...[]byte) {}, m))
	check.Wraps(t, failing.Sync(), errLate)
	compute(t, second, stream(t, d), time.Second, func([]byte) {})
	check.Wraps(t, check.Err(b.DeviceOverwriteOn(broken)), errOther)
	check.Wraps(t, check.Err(first.Host()), errLate)
}
