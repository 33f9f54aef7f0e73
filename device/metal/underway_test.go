package metal

import (
	"errors"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// A device knows what its streams have under way, and who waits for it.
func TestUnderWay(t *testing.T) {
	lazy(t)
	d := opened(t, "metal:0:private")
	a, b := allocated(t, d, 64), allocated(t, d, 64)
	s, next, last, idle := streamOn(t, d), streamOn(t, d), streamOn(t, d), streamOn(t, d)
	wants := func(what string, x device.Block, want bool, but ...device.Stream) {
		t.Helper()
		if got := d.UnderWay(x, but...); got != want {
			t.Errorf("%s: under way is %t", what, got)
		}
	}
	wants("before all work", a, false)
	check.Must(t, s.Copy(devcheck.Part(b, 0, 16), devcheck.Part(a, 32, 16)))
	wants("a source, not committed", devcheck.Part(a, 40, 4), true)
	wants("a target", devcheck.Part(b, 0, 1), true)
	wants("bytes before", devcheck.Part(a, 0, 32), false)
	wants("bytes after", devcheck.Part(b, 16, 48), false)
	e := devcheck.Record(t, s)
	wants("committed", a, true)
	wants("its own stream", a, false, s)
	wants("a stream that has nothing to do with it", a, true, idle)
	wants("a stream of another device", a, true, check.Ok(sim.New(100).NewStream())(t))
	check.Must(t, next.Wait(e))
	wants("a stream that waits", a, false, idle, next)
	check.Must(t, last.Wait(devcheck.Record(t, next)))
	wants("a stream that waits for one that waits", a, false, last)
	check.Must(t, s.Fill(a, 1))
	wants("work after the event", a, true, last)
	check.Must(t, s.Sync())
	wants("after Sync", a, false)
	wants("memory of others", device.Host(make([]byte, 4)), false)
}

// So a pool with check reports a buffer that is released too early.
func TestCheckReportsWorkUnderWay(t *testing.T) {
	for _, told := range []bool{true, false} {
		lazy(t)
		d := opened(t, "metal:0:private")
		s := streamOn(t, d)
		p := check.Ok(slab.Open(d, slab.Config{Check: true}))(t)
		b := check.Ok(p.Get(1000))(t)
		check.Must(t, s.Fill(b.Block(), 1))
		if told {
			check.Must(t, b.UsedOn(s))
		}
		check.Must(t, b.Release(), s.Sync())
		var e *slab.CheckError
		if err := p.Close(); errors.As(err, &e) == told || e != nil && !(strings.Contains(e.Error(), "underway_test.go:") && strings.Contains(e.Error(), "while a stream works on it")) {
			t.Errorf("told: %t, and Close says %v", told, err)
		}
	}
}
