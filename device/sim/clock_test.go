package sim

import (
	"math"
	"testing"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
)

const kB = 1000

// A bandwidth may be below a byte a second; 0 is without bound.
func TestASlowBandwidth(t *testing.T) {
	for perSecond, want := range map[float64]time.Duration{0: time.Second, 0.5: 7 * time.Second, 1: 4 * time.Second} {
		if took := (Costs{Latency: time.Second}).transfer(3, perSecond); took != want {
			t.Errorf("%v bytes a second: 3 bytes take %v, not %v", perSecond, took, want)
		}
	}
}

// A device on which everything takes another time.
func costly() *Device {
	d := New(1 << 20)
	d.Costs(Costs{Latency: time.Millisecond, ToDevice: 1 * kB, ToHost: 2 * kB, Within: 10 * kB, Pageable: 0.5 * kB})
	return d
}

// Each direction has its bandwidth; copies of the device and of pageable
// memory wait, others do not.
func TestCosts(t *testing.T) {
	d := costly()
	p := check.Ok(d.Pinned())(t)
	s := devcheck.Stream(t, d)
	a, b, host := devcheck.Alloc(t, d, 1000), devcheck.Alloc(t, d, 1000), devcheck.Alloc(t, p, 1000)
	pageable := device.Host(make([]byte, 1000))
	for _, c := range []struct {
		what string
		call func() error
		wait time.Duration // until the call returns
		sync time.Duration // until Sync does
	}{
		{"pinned to device", func() error { return s.Copy(a, host) }, 0, 1001},
		{"device to pinned", func() error { return s.Copy(host, a) }, 0, 501},
		{"within", func() error { return s.Copy(a, b) }, 0, 101},
		{"fill", func() error { return s.Fill(a, 1) }, 0, 101},
		{"launch", func() error { return s.(*Stream).Launch(7*time.Millisecond, func(...[]byte) {}, a) }, 0, 7},
		{"pageable to device", func() error { return s.Copy(a, pageable) }, 2001, 2001},
		{"device to pageable", func() error { return s.Copy(pageable, a) }, 2001, 2001},
		{"by the device", func() error { return d.Copy(a, host) }, 1001, 1001},
		{"on the host", func() error { return s.Copy(host, pageable) }, 0, 0},
		{"on the host, behind a launch", func() error {
			check.Must(t, s.(*Stream).Launch(7*time.Millisecond, func(...[]byte) {}, a))
			return s.Copy(host, pageable)
		}, 7, 7},
		{"nothing", func() error { return s.Sync() }, 0, 0},
	} {
		from := d.Clock()
		check.Must(t, c.call())
		if got := d.Clock() - from; got != c.wait*time.Millisecond {
			t.Errorf("%s: the call took %v, not %d ms", c.what, got, c.wait)
		}
		check.Must(t, s.Sync())
		if got := d.Clock() - from; got != c.sync*time.Millisecond {
			t.Errorf("%s: took %v, not %d ms", c.what, got, c.sync)
		}
	}
	d.Costs(Costs{Call: time.Second})
	from := d.Clock()
	d.Free(devcheck.Alloc(t, d, 1))
	d.Advance(5 * time.Second)
	d.Advance(0)
	d.Advance(-time.Second) // does nothing
	if got := d.Clock() - from; got != 7*time.Second {
		t.Errorf("two calls of a second and an Advance by 5 took %v", got)
	}
}

// Work has the first gap that is wide enough, and not before its stream gets there.
func TestOccupy(t *testing.T) {
	var c clock
	for i, w := range []struct{ cost, after, end time.Duration }{
		{1, 0, 1}, {1, 4, 5}, {3, 0, 4}, {5, 7, 12}, {2, 0, 7}, {1, 0, 13}, {0, 20, 20}, {0, 0, 0}, {1, 0, 14},
	} {
		if end := c.occupy(engineWithin, w.cost, w.after); end != w.end {
			t.Errorf("work %d ends at %d, not %d", i, end, w.end)
		}
	}
	c.now = 30
	if end := c.occupy(engineWithin, 1, 0); end != 31 {
		t.Errorf("work ends at %d, not %d", end, 31)
	}
}

// A loop that polls an event ends, though nothing else takes time.
func TestPollingEnds(t *testing.T) {
	d := slow()
	s, b := devcheck.Stream(t, d), devcheck.Alloc(t, d, 1)
	check.Must(t, s.Fill(b, 1))
	e := devcheck.Record(t, s)
	for polls := 0; !e.Done(); polls++ {
		if polls > 1e6 {
			t.Fatal("an event is not done after a million polls")
		}
	}
	if from := d.Clock(); !e.Done() || d.Clock() != from {
		t.Error("a look at what is done takes time")
	}
}

// Engines of different kinds run side by side, one does one thing at a time.
func TestOverlap(t *testing.T) {
	run := func(second func(d *Device, s device.Stream, a, host device.Block) error) time.Duration {
		d := costly()
		p := check.Ok(d.Pinned())(t)
		s, o := devcheck.Stream(t, d), devcheck.Stream(t, d)
		a, b, host := devcheck.Alloc(t, d, 1000), devcheck.Alloc(t, d, 1000), devcheck.Alloc(t, p, 1000)
		check.Must(t, s.Copy(a, host), second(d, o, b, host), s.Sync(), o.Sync())
		return d.Clock().Round(time.Millisecond)
	}
	toDevice := run(func(d *Device, s device.Stream, a, host device.Block) error { return s.Copy(a, host) })
	toHost := run(func(d *Device, s device.Stream, a, host device.Block) error { return s.Copy(host, a) })
	kernel := run(func(d *Device, s device.Stream, a, host device.Block) error {
		return s.(*Stream).Launch(1500*time.Millisecond, func(...[]byte) {}, a)
	})
	if toDevice != 2002*time.Millisecond || toHost != 1001*time.Millisecond || kernel != 1500*time.Millisecond {
		t.Errorf("beside a copy of 1.001 s, another took until %v, one back %v, a kernel %v", toDevice, toHost, kernel)
	}
}

// A kernel sees what lies in its blocks, and what it writes is there.
func TestLaunch(t *testing.T) {
	d := New(1 << 20)
	s := devcheck.Stream(t, d).(*Stream)
	const n = pageBytes + 10 // on two pages
	a, b := devcheck.Alloc(t, d, n), devcheck.Alloc(t, d, n)
	check.Must(t, s.Fill(a, 3), s.Launch(0, func(args ...[]byte) {
		for i, v := range args[0] {
			args[1][i] = v * 2
		}
	}, a, b))
	for _, off := range []int{0, pageBytes - 1, pageBytes, n - 1} {
		if got := first(t, d, devcheck.Part(b, off, 1)); got != 6 {
			t.Errorf("byte %d is %d, not 6", off, got)
		}
	}
	if got := d.Stats().LaunchCalls; got != 1 {
		t.Errorf("%d launches", got)
	}
	check.Must(t, s.Launch(0, func(args ...[]byte) { args[1][0] = byte(7 + len(args[0])) }, device.Block{}, a), s.Sync())
	if got := first(t, d, a); got != 7 {
		t.Errorf("byte 0 is %d, not 7", got)
	}
	check.Wraps(t, s.Launch(0, nil, device.Host([]byte{1})), device.ErrUnavailable)
	check.Wraps(t, devcheck.Stream(t, d).(*Stream).Launch(0, nil, devcheck.Part(a, 1, n)), device.ErrSize)
}

// A kernel has the blocks that it was launched with, whatever becomes of the slice they came in.
func TestLaunchKeepsItsArguments(t *testing.T) {
	d := New(1 << 20)
	s := devcheck.Stream(t, d).(*Stream)
	a, b := devcheck.Alloc(t, d, 1), devcheck.Alloc(t, d, 1)
	args := []device.Block{a}
	check.Must(t, s.Launch(time.Second, func(args ...[]byte) { args[0][0] = 7 }, args...))
	args[0] = b // for the next launch
	check.Must(t, s.Sync())
	if first(t, d, a) != 7 || first(t, d, b) == 7 {
		t.Error("the kernel has worked on the block of the next launch")
	}
}

// Work that takes for ever is not done at once because the clock overflows.
func TestEndOfTime(t *testing.T) {
	const never = time.Duration(math.MaxInt64)
	for what, enqueue := range map[string]func(*Device, *Stream, device.Block) error{
		"launch": func(_ *Device, s *Stream, b device.Block) error { return s.Launch(never, func(...[]byte) {}, b) },
		"fill": func(d *Device, s *Stream, b device.Block) error {
			d.Costs(Costs{Latency: 1, Within: 1e-9})
			return s.Fill(b, 1)
		},
	} {
		d := New(1 << 20)
		d.Late(1)
		b, s := devcheck.Alloc(t, d, 1000), devcheck.Stream(t, d).(*Stream)
		d.Advance(time.Second)
		check.Must(t, enqueue(d, s, b), s.Fill(b, 2))
		e := devcheck.Record(t, s)
		if e.Done() {
			t.Errorf("%s: done at once", what)
		}
		if d.Advance(never); d.Clock() != never || !e.Done() || first(t, d, b) != 2 {
			t.Errorf("%s: at %v, done: %v", what, d.Clock(), e.Done())
		}
		check.Must(t, s.Close())
	}
}

// What a call costs in bytes is what a copy could move meanwhile.
func TestCallBytes(t *testing.T) {
	for _, c := range []struct {
		costs Costs
		want  int
	}{
		{Costs{}, -1},
		{Costs{ToDevice: 1e9}, -1},
		{Costs{Latency: 10 * time.Microsecond, ToDevice: 25e9}, 250_000},
		{Costs{Call: time.Microsecond, Latency: time.Microsecond, ToDevice: 1e9}, 2000},
		{Costs{Latency: 1}, math.MaxInt32}, // bytes take no time
		{Costs{Latency: time.Hour, ToDevice: 25e9}, math.MaxInt32},
	} {
		d := New(0)
		d.Costs(c.costs)
		if n := device.TraitsOf(d).CallBytes; n != c.want {
			t.Errorf("%+v: %d bytes, want %d", c.costs, n, c.want)
		}
	}
}
