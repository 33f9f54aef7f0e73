package sim

import (
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
)

// slow returns a device on which a copy or a fill takes a millisecond.
func slow() *Device {
	d := New(1 << 20)
	d.Costs(Costs{Latency: time.Millisecond})
	return d
}

func wantUnderWay(t *testing.T, d *Device, b device.Block, want bool, when string, but ...device.Stream) {
	t.Helper()
	if d.UnderWay(b, but...) != want {
		t.Errorf("%s: under way is %v", when, !want)
	}
}

// Work is under way on the bytes that it uses, until it is done.
func TestUnderWayIsOfBytes(t *testing.T) {
	d := slow()
	s, b, other := devcheck.Stream(t, d), devcheck.Alloc(t, d, 100), devcheck.Alloc(t, d, 100)
	check.Must(t, s.Fill(devcheck.Part(b, 20, 10), 1))
	for _, c := range []struct {
		off, n int
		want   bool
	}{{0, 20, false}, {0, 21, true}, {20, 10, true}, {25, 1, true}, {29, 71, true}, {30, 70, false}, {0, 100, true}} {
		if got := d.UnderWay(devcheck.Part(b, c.off, c.n)); got != c.want {
			t.Errorf("%d bytes at %d: under way is %v", c.n, c.off, got)
		}
	}
	wantUnderWay(t, d, other, false, "another region")
	check.Must(t, s.Sync())
	wantUnderWay(t, d, b, false, "after Sync")
}

// The work of the streams that are named does not count, nor what they wait for. Streams of other devices mean nothing.
func TestUnderWayBut(t *testing.T) {
	d, away := slow(), slow()
	s, b := devcheck.Stream(t, d), devcheck.Alloc(t, d, 100)
	waits, later := devcheck.Stream(t, d), devcheck.Stream(t, d)
	foreign := devcheck.Stream(t, away)
	check.Must(t, foreign.Fill(devcheck.Alloc(t, away, 100), 1), s.Fill(b, 1))
	check.Must(t, foreign.Copy(device.Host(make([]byte, 1)), devcheck.Alloc(t, away, 1)))
	check.Must(t, waits.Wait(devcheck.Record(t, s)))
	wantUnderWay(t, d, b, true, "no stream")
	wantUnderWay(t, d, b, false, "its stream", s)
	wantUnderWay(t, d, b, false, "a stream that waits for it", waits)
	wantUnderWay(t, d, b, true, "a stream without work", later)
	wantUnderWay(t, d, b, true, "streams of others", foreign, devcheck.Stream(t, opened(t, "heap")))
	check.Must(t, later.Wait(devcheck.Record(t, s)), later.Fill(b, 2))
	wantUnderWay(t, d, b, true, "work behind it", s)
	wantUnderWay(t, d, b, false, "both", s, later)
	p := check.Ok(d.Pinned())(t).(device.Overseer)
	if !p.UnderWay(b, s) || p.UnderWay(b, later) {
		t.Error("pinned memory knows of other work than its device")
	}
}

// What a failed stream has enqueued, or a lost device, is never done.
func TestUnderWayIsNotWhatFails(t *testing.T) {
	d := slow()
	s, b, c := devcheck.Stream(t, d), devcheck.Alloc(t, d, 100), devcheck.Alloc(t, d, 100)
	d.FailCopy(1, errTest)
	check.Must(t, s.Fill(c, 1), s.Copy(b, b), s.Fill(b, 1))
	wantUnderWay(t, d, b, true, "before the copy fails")
	d.Advance(time.Millisecond)
	wantUnderWay(t, d, b, false, "after the copy has failed")

	o := devcheck.Stream(t, d)
	check.Must(t, o.Fill(b, 1))
	check.Wraps(t, o.Fill(devcheck.Part(b, 1, 100), 2), device.ErrSize)
	wantUnderWay(t, d, b, true, "work before a mistake")
	d.Lose(1)
	_, _, err := d.MemInfo()
	check.Wraps(t, err, device.ErrDeviceLost)
	wantUnderWay(t, d, b, false, "a lost device")
}
