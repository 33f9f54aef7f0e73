package unified_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/unified"
)

var errLate = errors.New("late")

// A copy that fails late counts as not done, and is made again.
func TestCopyThatFailsLate(t *testing.T) {
	d := slowSim()
	b, s := pinned(t, d, mega), stream(t, d)
	must(t, b.Fill(1))
	must(t, s.Launch(time.Second, func(...[]byte) {})) // what fails does so when its turn comes
	d.FailCopy(1, errLate)
	must(t, b.SyncToDeviceOn(s))
	if got := readDevice(t, d, b); got[0] != 1 {
		t.Errorf("device side is %d", got[0])
	}
	wantErr(t, s.Sync(), errLate) // the stream knows
	writeDevice(t, d, b, slices.Repeat([]byte{5}, mega)...)
	s = stream(t, d)
	must(t, s.Launch(time.Second, func(...[]byte) {}))
	d.FailCopy(1, errLate)
	must(t, b.SyncToHostOn(s))
	wantState(t, b, unified.Synchronized)
	m, err := b.HostMut()
	must(t, err)
	if m[0] != 5 {
		t.Errorf("host side is %d", m[0])
	}
}

// What a stream has failed to compute shows at every read until it is written
// anew.
func TestKernelThatFailsLate(t *testing.T) {
	d := slowSim()
	b, s := pinned(t, d, 4), stream(t, d)
	must(t, b.Fill(1))
	x, err := b.DeviceMutOn(s)
	must(t, err)
	d.FailLaunch(1, errLate)
	_ = s.Launch(time.Second, func(args ...[]byte) { args[0][0] = 9 }, x)
	for range 2 {
		_, err = b.Host()
		wantErr(t, err, errLate)
		_, err = b.Device()
		wantErr(t, err, errLate)
	}
	must(t, s.Close())
	_, err = b.Host()
	wantErr(t, err, errLate) // it is known by now
	v, err := b.View(0, 2)
	must(t, err)
	must(t, v.Fill(3))
	m, err := v.Host()
	must(t, err)
	if m[0] != 3 {
		t.Errorf("host side is %d", m[0])
	}
	_, err = v.Device()
	must(t, err)
	_, err = b.HostRange(2, 4)
	wantErr(t, err, errLate)
	must(t, b.Fill(4))
	if got := readDevice(t, d, b); !slices.Equal(got, []byte{4, 4, 4, 4}) {
		t.Errorf("device side is %v", got)
	}
}

// A device that is lost with work under way leaves the host side as it was.
func TestDeviceLostUnderWay(t *testing.T) {
	d := slowSim()
	b, s := pinned(t, d, mega), stream(t, d)
	must(t, b.Fill(1))
	must(t, b.SyncToDeviceOn(s))
	d.Lose(1)
	_, _ = d.Alloc(1)
	m, err := b.HostMut()
	must(t, err)
	if m[0] != 1 {
		t.Errorf("host side is %d", m[0])
	}
	wantState(t, b, unified.HostDirty)
	_, err = b.Device()
	wantErr(t, err, device.ErrDeviceLost)
	must(t, b.Free())
}

// What was built on work that has failed is undone with it: an element that a
// failed fill has left without contents is not current because it was copied on.
func TestWorkBuiltOnWorkThatFails(t *testing.T) {
	d := slowSim()
	b, s := pinned(t, d, 4), stream(t, d)
	m, err := b.HostMutRange(1, 2)
	must(t, err)
	m[0] = 7
	must(t, s.Launch(time.Second, func(...[]byte) {}))
	d.FailFill(2, errLate)
	_, err = b.DeviceOn(s) // fills 0, copies 1, fills 2 and 3
	must(t, err)
	v, err := b.View(0, 3)
	must(t, err)
	must(t, v.SyncToHostOn(s))
	wantHost(t, b, 0, 7, 0, 0)
	if got := readDevice(t, d, b); !slices.Equal(got, []byte{0, 7, 0, 0}) {
		t.Errorf("device side is %v", got)
	}
}
