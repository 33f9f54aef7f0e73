package device

import (
	"testing"
	"time"
)

// A fault shows when the work would have been done, and events tell the work
// before from the work after.
func TestLateFaults(t *testing.T) {
	for name, fail := range map[string]func(*Sim){
		"copy":   func(d *Sim) { d.FailCopy(2, errTest) },
		"fill":   func(d *Sim) { d.FailFill(2, errTest) },
		"launch": func(d *Sim) { d.FailLaunch(2, errTest) },
	} {
		d, s, b := lateSim(t, 1)
		fail(d)
		step := func() {
			succeed(t, s.Copy(b, b), s.Fill(b, 1), s.(*SimStream).Launch(0, func(...[]byte) {}, b))
		}
		step()
		before := recorded(t, s)
		step()
		after := recorded(t, s)
		o := streamOf(t, d)
		succeed(t, o.Wait(after), o.Fill(b, 3))
		if err := before.Sync(); err != nil {
			t.Errorf("%s: event before the fault: %v", name, err)
		}
		for _, err := range []error{after.Sync(), s.Sync(), s.Fill(b, 2), o.Sync()} {
			wantErr(t, err, errTest)
		}
		if !after.Done() || first(t, d, b) != 1 {
			t.Errorf("%s: the event is not over, or work was done after the fault", name)
		}
		succeed(t, s.Close())
	}
}

// A bad argument fails the stream behind what is enqueued.
func TestLateMistake(t *testing.T) {
	d, s, b := lateSim(t, 1)
	succeed(t, s.Fill(b, 1))
	e := recorded(t, s)
	wantErr(t, s.Fill(Block{b.Region, 1, 100}, 2), ErrSize)
	wantErr(t, s.Fill(b, 3), ErrSize)
	succeed(t, e.Sync())
	wantErr(t, s.Sync(), ErrSize)
	if got := first(t, d, b); got != 1 {
		t.Errorf("byte is %d, not 1", got)
	}
}

// Of a lost device all events are over, and none of what was enqueued is done.
func TestLateLoss(t *testing.T) {
	d, s, b := lateSim(t, 4)
	succeed(t, s.Fill(b, 1))
	e := recorded(t, s)
	done := e.Done()
	d.Lose(1)
	wantErr(t, d.Copy(b, b), ErrDeviceLost)
	if done || !e.Done() {
		t.Fatal("an event was done before its device was lost, or is not over now")
	}
	for _, err := range []error{e.Sync(), s.Sync(), s.Fill(b, 1)} {
		wantErr(t, err, ErrDeviceLost)
	}
	_, err := s.Record()
	wantErr(t, err, ErrDeviceLost)
	o := b.Region.(*SimRegion).page(0)
	if o[0] != 0 {
		t.Error("work of a lost device was done")
	}
	succeed(t, s.Close())
}

// Close of a stream waits for it, Close of the device for all.
func TestLateClose(t *testing.T) {
	d, s, b := lateSim(t, 4)
	succeed(t, s.Fill(b, 1), s.Close())
	if first(t, d, b) != 1 {
		t.Error("Close of a stream did not wait")
	}
	o := streamOf(t, d)
	succeed(t, o.Fill(b, 2))
	e := recorded(t, o)
	succeed(t, d.Close())
	if !e.Done() || b.Region.(*SimRegion).page(0)[0] != 2 {
		t.Error("Close of the device did not wait")
	}
	wantErr(t, o.Fill(b, 1), ErrClosed)
	succeed(t, o.Sync(), o.Close())
}

// Memory that is freed while work is to use it is noticed, wherever it is.
func TestUsedAfterFree(t *testing.T) {
	d := NewSim(1 << 20)
	d.Late(1)
	d.Costs(SimCosts{Latency: time.Second})
	pinned, err := d.Pinned()
	succeed(t, err)
	for i, of := range []Device{d, pinned, opened(t, "heap")} {
		b, c := allocated(t, of, 10), allocated(t, d, 10)
		s := streamOf(t, d)
		succeed(t, s.Copy(c, b))
		of.Free(b)
		wantErr(t, s.Sync(), ErrUnavailable)
		if n := d.Stats().UsedAfterFree; n != int64(i+1) {
			t.Errorf("%s: noticed %d times, not %d", of.Name(), n, i+1)
		}
	}
}
