package device

import (
	"testing"
	"time"
)

const kB = 1000

// A device on which everything takes another time.
func costlySim() *Sim {
	d := NewSim(1 << 20)
	d.Costs(SimCosts{Latency: time.Millisecond, ToDevice: 1 * kB, ToHost: 2 * kB, Within: 10 * kB, Pageable: 0.5 * kB})
	return d
}

// Each direction has its bandwidth; copies of the device and of pageable
// memory wait, others do not.
func TestSimCosts(t *testing.T) {
	d := costlySim()
	p, err := d.Pinned()
	succeed(t, err)
	s := streamOf(t, d)
	a, b, host := allocated(t, d, 1000), allocated(t, d, 1000), allocated(t, p, 1000)
	pageable := Host(make([]byte, 1000))
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
		{"launch", func() error { return s.(*SimStream).Launch(7*time.Millisecond, func(...[]byte) {}, a) }, 0, 7},
		{"pageable to device", func() error { return s.Copy(a, pageable) }, 2001, 2001},
		{"device to pageable", func() error { return s.Copy(pageable, a) }, 2001, 2001},
		{"by the device", func() error { return d.Copy(a, host) }, 1001, 1001},
		{"on the host", func() error { return s.Copy(host, pageable) }, 0, 0},
		{"nothing", func() error { return s.Sync() }, 0, 0},
	} {
		from := d.Clock()
		succeed(t, c.call())
		if got := (d.Clock() - from).Milliseconds(); got != int64(c.wait) {
			t.Errorf("%s: the call took %d ms, not %d", c.what, got, c.wait)
		}
		succeed(t, s.Sync())
		if got := (d.Clock() - from).Milliseconds(); got != int64(c.sync) {
			t.Errorf("%s: took %d ms, not %d", c.what, got, c.sync)
		}
	}
	d.Costs(SimCosts{Call: time.Second})
	from := d.Clock()
	d.Free(allocated(t, d, 1))
	d.Advance(5 * time.Second)
	if got := d.Clock() - from; got != 7*time.Second {
		t.Errorf("two calls of a second and an Advance by 5 took %v", got)
	}
}

// Engines of different kinds run side by side, one does one thing at a time.
func TestSimOverlap(t *testing.T) {
	run := func(second func(d *Sim, s Stream, a, host Block) error) time.Duration {
		d := costlySim()
		p, err := d.Pinned()
		succeed(t, err)
		s, o := streamOf(t, d), streamOf(t, d)
		a, b, host := allocated(t, d, 1000), allocated(t, d, 1000), allocated(t, p, 1000)
		succeed(t, s.Copy(a, host), second(d, o, b, host), s.Sync(), o.Sync())
		return d.Clock().Round(time.Millisecond)
	}
	toDevice := run(func(d *Sim, s Stream, a, host Block) error { return s.Copy(a, host) })
	toHost := run(func(d *Sim, s Stream, a, host Block) error { return s.Copy(host, a) })
	kernel := run(func(d *Sim, s Stream, a, host Block) error {
		return s.(*SimStream).Launch(1500*time.Millisecond, func(...[]byte) {}, a)
	})
	if toDevice != 2002*time.Millisecond || toHost != 1001*time.Millisecond || kernel != 1500*time.Millisecond {
		t.Errorf("beside a copy of 1.001 s, another took until %v, one back %v, a kernel %v", toDevice, toHost, kernel)
	}
}

// A kernel sees what lies in its blocks, and what it writes is there.
func TestLaunch(t *testing.T) {
	d := NewSim(1 << 20)
	s := streamOf(t, d).(*SimStream)
	const n = simPage + 10 // on two pages
	a, b := allocated(t, d, n), allocated(t, d, n)
	succeed(t, s.Fill(a, 3), s.Launch(0, func(args ...[]byte) {
		for i, v := range args[0] {
			args[1][i] = v * 2
		}
	}, a, b))
	for _, off := range []int{0, simPage - 1, simPage, n - 1} {
		if got := first(t, d, Block{b.Region, off, 1}); got != 6 {
			t.Errorf("byte %d is %d, not 6", off, got)
		}
	}
	if got := d.Stats().LaunchCalls; got != 1 {
		t.Errorf("%d launches", got)
	}
	wantErr(t, s.Launch(0, nil, Host([]byte{1})), ErrUnavailable)
	wantErr(t, streamOf(t, d).(*SimStream).Launch(0, nil, Block{a.Region, 1, n}), ErrSize)
}
