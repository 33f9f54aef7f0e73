package unified

import (
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
)

// A use is about elements that it has in common with an access. What is left of it are those beside.
func TestPartsOfAUse(t *testing.T) {
	for _, c := range []struct {
		lo, hi int
		meets  bool
		left   [][2]int
	}{
		{10, 20, true, nil},
		{0, 30, true, nil},
		{12, 15, true, [][2]int{{10, 12}, {15, 20}}},
		{10, 19, true, [][2]int{{19, 20}}},
		{11, 20, true, [][2]int{{10, 11}}},
		{0, 11, true, [][2]int{{11, 20}}},
		{19, 30, true, [][2]int{{10, 19}}},
		{0, 10, false, nil},
		{20, 30, false, nil},
		{15, 15, false, nil},
	} {
		u := use{lo: 10, hi: 20}
		if got := u.meets(c.lo, c.hi); got != c.meets {
			t.Errorf("%d to %d meets 10 to 20: %t", c.lo, c.hi, got)
		}
		if !c.meets {
			continue
		}
		var left [][2]int
		for _, x := range u.outside(c.lo, c.hi) {
			left = append(left, [2]int{x.lo, x.hi})
		}
		check.Same(t, left, c.left, "outside")
	}
}

// A cannot is a stream that records no event.
type cannot struct{ device.Stream }

func (cannot) Record() (device.Event, error) { return nil, errTest }

// A use is over when its event is done, and where its stream can record none.
func TestAUseThatIsOver(t *testing.T) {
	d := sim.New(1 << 20)
	s := check.Ok(d.NewStream())(t).(*sim.Stream)
	check.Must(t, s.Launch(time.Second, func(...[]byte) {}))
	u := use{stream: s}
	if u.over() {
		t.Error("it is over while the work goes on")
	}
	if check.Must(t, s.Sync()); !u.over() {
		t.Error("it goes on when the work is done")
	}
	if u := (use{stream: cannot{}}); !u.over() {
		t.Error("it goes on without an event")
	}
}

// Elements are unsettled while a copy of ours is about them, and not for other work.
func TestUnsettledElements(t *testing.T) {
	a := array{uses: []use{{lo: 10, hi: 20, ours: true}, {lo: 30, hi: 40}}}
	for _, c := range []struct {
		lo, hi int
		want   bool
	}{{0, 10, false}, {9, 11, true}, {19, 20, true}, {20, 30, false}, {30, 40, false}} {
		if got := a.unsettled(c.lo, c.hi); got != c.want {
			t.Errorf("%d to %d: %t", c.lo, c.hi, got)
		}
	}
}

// Uses that are done are forgotten, if no access waits for them, too. One that goes on is kept, and so is a failure.
func TestUsesThatAreDoneAreForgotten(t *testing.T) {
	d := sim.New(1 << 20)
	b := check.Ok(NewPinned[byte](d, 1000))(t)
	check.Must(t, b.Fill(1), b.SyncToDevice())
	newStream := func() *sim.Stream { return check.Ok(d.NewStream())(t).(*sim.Stream) }
	failing, going, s := newStream(), newStream(), newStream()
	work := func(i int, s *sim.Stream, while time.Duration) {
		v := check.Ok(b.View(i, i+1))(t)
		x := check.Ok(v.DeviceMutOn(s))(t)
		check.Must(t, s.Launch(while, func(...[]byte) {}, x), v.UsedOn(s))
	}
	work(0, s, time.Second)
	check.Must(t, failing.Launch(time.Second, func(...[]byte) {})) // what fails does so when its turn comes
	d.FailLaunch(1, errTest)
	work(1, failing, 0)
	work(2, going, time.Hour)
	for i := range 2 * manyUses {
		work(3+i, s, 0)
	}
	if n := len(b.a.uses); n != 3+2*manyUses {
		t.Errorf("%d uses are known while all go on", n)
	}
	check.Wraps(t, failing.Sync(), errTest)
	check.Must(t, s.Sync())
	work(999, s, 0)
	if n := len(b.a.uses); n != 3 {
		t.Errorf("%d uses are known, of which a failure, one that goes on and the last one matter", n)
	}
	check.Wraps(t, check.Err(b.HostRange(1, 2)), errTest)
	if check.Ok(b.HostRange(2, 3))(t); d.Clock() < time.Hour {
		t.Errorf("what a kernel writes was read after %v", d.Clock())
	}
}
