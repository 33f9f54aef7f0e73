package unified_test

import (
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/unified"
)

// Free gives the memory of both sides back after the work on streams that uses it, not
// before: copies of the buffer's own either way, and work of the caller's. That memory is
// neither handed out nor given to the device meanwhile.
func TestFreeWaitsForWorkUnderWay(t *testing.T) {
	for name, work := range map[string]func(t *testing.T, b *unified.Buffer[byte], s *sim.Stream){
		"copy to the device": func(t *testing.T, b *unified.Buffer[byte], s *sim.Stream) {
			check.Must(t, b.Fill(1), b.SyncToDeviceOn(s))
		},
		"copy to the host": func(t *testing.T, b *unified.Buffer[byte], s *sim.Stream) {
			check.Ok(b.DeviceMut())(t)
			check.Must(t, b.SyncToHostOn(s))
		},
		"kernel": func(t *testing.T, b *unified.Buffer[byte], s *sim.Stream) {
			x := check.Ok(b.DeviceOn(s))(t)
			check.Must(t, s.Launch(time.Second, func(...[]byte) {}, x))
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, b, s := slow(t, mega)
			bothSides(t, b) // without the stream, so that only the work itself uses the memory there
			before := d.Stats()
			work(t, b, s)
			check.Must(t, b.Free())
			unified.FreeHeld()
			if now := d.Stats(); now.ActiveBytes != before.ActiveBytes {
				t.Errorf("%d of %d bytes are out while the work goes on", now.ActiveBytes, before.ActiveBytes)
			}
			check.Must(t, s.Sync())
			notUsedAfterFree(t, d)
			unified.FreeHeld()
			wantNothing(t, d, "the work")
		})
	}
}

// A mute stream cannot record.
type mute struct{ *sim.Stream }

func (mute) Record() (device.Event, error) { return nil, errLate }

// Where a copy is enqueued and then the stream fails, nothing of it goes on when the
// caller hears of that: the slices are the caller's to write to.
func TestErrorComesAfterTheCopy(t *testing.T) {
	d, b, s := slow(t, mega)
	check.Must(t, b.Fill(1))
	check.Ok(b.DeviceMut())(t)
	m := check.Ok(b.HostMut())(t)
	before := d.Clock()
	check.Wraps(t, b.SyncToDeviceOn(mute{s}), errLate)
	m[mega-1] = 2
	wantClock(t, d, before+time.Millisecond, time.Hour)
	wantState(t, b, unified.HostDirty)
	wantDevice(t, d, b, 1)
}
