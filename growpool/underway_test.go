package growpool

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// A slab.Pool with check reports a lease that is released while a stream works on it that the lease has not named, once
// and with the place, whether the key keeps the memory or not, and a buffer that its key loses so. It says nothing of
// leases that name their streams, wait for them or leave them to another lease of the memory, whatever the owner before
// has named.
func TestCheckReportsALeaseUnderWay(t *testing.T) {
	acquire := func(t *testing.T, p *Pool[string]) *Lease[byte] {
		return check.Ok(Acquire[byte](t.Context(), p, "k", 1000))(t)
	}
	for name, c := range map[string]struct {
		config  Config
		program func(t *testing.T, p *Pool[string], s, other device.Stream)
		faults  string // what each says
	}{
		"released": {Config{}, func(t *testing.T, p *Pool[string], s, _ device.Stream) {
			l := acquire(t, p)
			check.Must(t, s.Fill(l.Block(), 1), l.Release())
		}, "growpool: lease of 1000 bytes"},
		"released in a budget": {Config{MaxBytes: 1 << 16}, func(t *testing.T, p *Pool[string], s, _ device.Stream) {
			l := acquire(t, p)
			check.Must(t, s.Fill(l.Block(), 1), l.Release())
		}, "growpool: lease of 1000 bytes"},
		"the owner before has named the stream": {Config{}, func(t *testing.T, p *Pool[string], s, other device.Stream) {
			l := acquire(t, p)
			for range 20 { // so that it goes on when the next owner comes
				check.Must(t, s.Fill(l.Block(), 1))
			}
			check.Must(t, l.UsedOn(s), l.Release())
			l = check.Ok(AcquireOn[byte](t.Context(), p, "k", other, 1000))(t) // after that work
			check.Must(t, s.Fill(l.Block(), 1), l.Release())
		}, "growpool: lease of 1000 bytes"},
		"another stream is named": {Config{}, func(t *testing.T, p *Pool[string], s, other device.Stream) {
			l := check.Ok(AcquireOn[byte](t.Context(), p, "k", other, 1000))(t)
			check.Must(t, s.Fill(l.Block(), 1), l.Release())
		}, "growpool: lease of 1000 bytes"},
		"the lease's memory goes back with it": {Config{Private: true}, func(t *testing.T, p *Pool[string], s, _ device.Stream) {
			l, private := acquire(t, p), acquire(t, p)
			check.Must(t, s.Fill(private.Block(), 1), private.Release(), l.Release())
		}, "slab: buffer of 1000 bytes"},
		"the key lets go of it meanwhile": {Config{}, func(t *testing.T, p *Pool[string], s, _ device.Stream) {
			l := acquire(t, p)
			p.Clear()
			check.Must(t, s.Fill(l.Block(), 1), l.Release())
		}, "slab: buffer of 1000 bytes"},
		"cleared": {Config{}, func(t *testing.T, p *Pool[string], s, _ device.Stream) {
			l := acquire(t, p)
			b := l.Block()
			check.Must(t, l.Release(), s.Fill(b, 1)) // after its Release
			p.Clear()
		}, "slab: buffer of 1000 bytes"},
		"grown": {Config{}, func(t *testing.T, p *Pool[string], s, _ device.Stream) {
			l := acquire(t, p)
			b := l.Block()
			check.Must(t, l.Release(), s.Fill(b, 1))
			l = check.Ok(Acquire[byte](t.Context(), p, "k", 2000))(t)
			check.Must(t, s.Sync(), l.Release())
		}, "slab: buffer of 1000 bytes"},
		"evicted": {Config{MaxBytes: 1500}, func(t *testing.T, p *Pool[string], s, _ device.Stream) {
			l := acquire(t, p)
			b := l.Block()
			check.Must(t, l.Release(), s.Fill(b, 1))
			l = check.Ok(Acquire[byte](t.Context(), p, "other", 1000))(t)
			check.Must(t, s.Sync(), l.Release())
		}, "slab: buffer of 1000 bytes"},
		"UsedOn": {Config{}, func(t *testing.T, p *Pool[string], s, _ device.Stream) {
			l := acquire(t, p)
			check.Must(t, s.Fill(l.Block(), 1), l.UsedOn(s), l.Release())
			p.Clear()
		}, ""},
		"AcquireOn": {Config{}, func(t *testing.T, p *Pool[string], s, other device.Stream) {
			for range 3 {
				for _, on := range []device.Stream{s, other} {
					l := check.Ok(AcquireOn[byte](t.Context(), p, "k", on, 1000))(t)
					check.Must(t, on.Fill(l.Block(), 1), l.Release())
				}
			}
		}, ""},
		"Sync": {Config{}, func(t *testing.T, p *Pool[string], s, _ device.Stream) {
			l := acquire(t, p)
			check.Must(t, s.Fill(l.Block(), 1), s.Sync(), l.Release())
		}, ""},
		"another lease has the memory": {Config{}, func(t *testing.T, p *Pool[string], s, _ device.Stream) {
			l := acquire(t, p)
			other := check.Ok(l.Ref().Get())(t)
			check.Must(t, s.Fill(l.Block(), 1), l.Release(), other.UsedOn(s), other.Release())
		}, ""},
		"no elements": {Config{}, func(t *testing.T, p *Pool[string], _, _ device.Stream) {
			check.Must(t, check.Ok(Acquire[byte](t.Context(), p, "k", 0))(t).Release())
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := sim.New(64 << 20)
			d.Late(7)
			below := check.Ok(slab.Open(d, slab.Config{Check: true, Logger: slog.New(slog.DiscardHandler)}))(t)
			s, other := check.Ok(d.NewStream())(t), check.Ok(d.NewStream())(t)
			p := New[string](below, c.config)
			c.program(t, p, s, other)
			if err := errors.Join(s.Sync(), other.Sync()); err != nil && c.faults == "" { // else the memory may be gone
				t.Error(err)
			}
			check.Must(t, p.Close())
			var e *slab.CheckError
			err := below.Close()
			if errors.As(err, &e) != (c.faults != "") || e != nil && len(e.Faults) != 1 {
				t.Fatal(err)
			}
			if e != nil && !(strings.HasPrefix(e.Faults[0], c.faults) && strings.Contains(e.Faults[0], "underway_test.go:") && strings.Contains(e.Faults[0], "while a stream works on it")) {
				t.Error(e.Faults[0])
			}
		})
	}
}

// Only a pool that looks pays for it: others know of no report.
func TestNobodyLooksWithoutCheck(t *testing.T) {
	for line, looks := range map[string]bool{
		"device=sim:1MiB": false, "device=sim:1MiB,check=true": true, "device=heap,check=true": false, "device=mmap,check=true": false,
	} {
		if p := New[string](openSlab(t, line), Config{}); (p.ended != nil) != looks {
			t.Errorf("%s: looks is not %t", line, looks)
		}
	}
}
