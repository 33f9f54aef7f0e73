package sim

import (
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
)

// A fault shows when the work would have been done, and events tell the work
// before from the work after.
func TestLateFaults(t *testing.T) {
	for name, fail := range map[string]func(*Device){
		"copy":   func(d *Device) { d.FailCopy(2, errTest) },
		"fill":   func(d *Device) { d.FailFill(2, errTest) },
		"launch": func(d *Device) { d.FailLaunch(2, errTest) },
	} {
		d, s, b := lateDevice(t, 1)
		fail(d)
		step := func() {
			check.Must(t, s.Copy(b, b), s.Fill(b, 1), s.(*Stream).Launch(0, func(...[]byte) {}, b))
		}
		step()
		before := devcheck.Record(t, s)
		step()
		after := devcheck.Record(t, s)
		o := devcheck.Stream(t, d)
		check.Must(t, o.Wait(after), o.Fill(b, 3))
		if err := before.Sync(); err != nil {
			t.Errorf("%s: event before the fault: %v", name, err)
		}
		for _, err := range []error{after.Sync(), s.Sync(), s.Fill(b, 2), o.Sync()} {
			check.Wraps(t, err, errTest)
		}
		if !after.Done() || first(t, d, b) != 1 {
			t.Errorf("%s: the event is not over, or work was done after the fault", name)
		}
		check.Must(t, s.Close())
	}
}

// A bad argument fails the stream behind what is enqueued.
func TestLateMistake(t *testing.T) {
	d, s, b := lateDevice(t, 1)
	check.Must(t, s.Fill(b, 1))
	e := devcheck.Record(t, s)
	check.Wraps(t, s.Fill(devcheck.Part(b, 1, 100), 2), device.ErrSize)
	check.Wraps(t, s.Fill(b, 3), device.ErrSize)
	check.Must(t, e.Sync())
	check.Wraps(t, s.Sync(), device.ErrSize)
	if got := first(t, d, b); got != 1 {
		t.Errorf("byte is %d, not 1", got)
	}
}

// Of a lost device all events are over, and none of what was enqueued is done.
func TestLateLoss(t *testing.T) {
	d, s, b := lateDevice(t, 4)
	check.Must(t, s.Fill(b, 1))
	e := devcheck.Record(t, s)
	done := e.Done()
	d.Lose(1)
	check.Wraps(t, d.Copy(b, b), device.ErrDeviceLost)
	if done || !e.Done() {
		t.Fatal("an event was done before its device was lost, or is not over now")
	}
	for _, err := range []error{e.Sync(), s.Sync(), s.Fill(b, 1)} {
		check.Wraps(t, err, device.ErrDeviceLost)
	}
	check.Wraps(t, check.Err(s.Record()), device.ErrDeviceLost)
	o := b.Region.(*Region).page(0)
	if o[0] != 0 {
		t.Error("work of a lost device was done")
	}
	check.Must(t, s.Close())
}

// Close of the device waits for all streams.
func TestLateClose(t *testing.T) {
	d, o, b := lateDevice(t, 4)
	check.Must(t, o.Fill(b, 2))
	e := devcheck.Record(t, o)
	check.Must(t, d.Close())
	if !e.Done() || b.Region.(*Region).page(0)[0] != 2 {
		t.Error("Close of the device did not wait")
	}
	check.Wraps(t, o.Fill(b, 1), device.ErrClosed)
	check.Must(t, o.Sync(), o.Close())
}

// Memory that is freed while work is to use it is noticed, wherever it is.
func TestUsedAfterFree(t *testing.T) {
	d := New(1 << 20)
	d.Late(1)
	d.Costs(Costs{Latency: time.Second})
	pinned := check.Ok(d.Pinned())(t)
	noticed := int64(0)
	want := func(s device.Stream, what string) {
		t.Helper()
		check.Wraps(t, s.Sync(), device.ErrUnavailable)
		if noticed++; d.Stats().UsedAfterFree != noticed {
			t.Errorf("%s: noticed %d times, not %d", what, d.Stats().UsedAfterFree, noticed)
		}
	}
	for _, of := range []device.Device{d, pinned, opened(t, "heap")} {
		b, c := devcheck.Alloc(t, of, 10), devcheck.Alloc(t, d, 10)
		s := devcheck.Stream(t, d)
		check.Must(t, s.Copy(c, b))
		of.Free(b)
		want(s, of.Name())
	}
	for what, use := range map[string]func(*Stream, device.Block) error{
		"fill":   func(s *Stream, b device.Block) error { return s.Fill(b, 1) },
		"launch": func(s *Stream, b device.Block) error { return s.Launch(time.Second, nil, b) },
	} {
		b, s := devcheck.Alloc(t, d, 10), devcheck.Stream(t, d).(*Stream)
		check.Must(t, use(s, b))
		d.Free(b)
		want(s, what)
	}
}

// Each piece of work is late by up to 255 µs, and later than the one before it: a long queue is done late.
func TestLateDelaysAddUp(t *testing.T) {
	const works, most = 100, 255 * time.Microsecond
	d, s, b := lateDevice(t, 1)
	for range works {
		check.Must(t, s.Fill(b, 1))
	}
	begin := d.Clock()
	check.Must(t, s.Sync())
	if late := d.Clock() - begin; late <= most {
		t.Errorf("%d pieces of work were late by %v", works, late)
	}
	for range works {
		begin := d.Clock()
		check.Must(t, s.Fill(b, 1), s.Sync())
		if late := d.Clock() - begin; late > most+4*lateCall { // two calls
			t.Fatalf("work was late by %v", late)
		}
	}
}

// An Alloc that asks for nothing, or for less, is no call: faults wait for one that takes memory.
func TestAllocOfNothingIsNoCall(t *testing.T) {
	d := New(100)
	d.FailAlloc(1, errTest)
	check.Ok(d.Alloc(0))(t)
	_, err := d.Alloc(-1)
	check.Wraps(t, err, device.ErrSize)
	if n := d.Stats().AllocCalls; n != 0 {
		t.Errorf("%d calls", n)
	}
	_, err = d.Alloc(1)
	check.Wraps(t, err, errTest)
	d.Lose(1)
	check.Ok(d.Alloc(0))(t)
	_, err = d.Alloc(1)
	check.Wraps(t, err, device.ErrDeviceLost)
	check.Ok(d.Alloc(0))(t)
}
