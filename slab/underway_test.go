package slab

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/internal/underway"
)

// A pool with check reports a buffer that is released while a stream works on it that nobody has named, with
// the place, and says nothing of a program that names its streams, or that waits for them.
func TestCheckReportsWorkUnderWay(t *testing.T) {
	for name, c := range map[string]struct {
		program func(t *testing.T, p *Pool, s, other device.Stream)
		faults  int
	}{
		"a fill": {func(t *testing.T, p *Pool, s, _ device.Stream) {
			b := mustGet(t, p, 1000)
			check.Must(t, s.Fill(b.Block(), 1), b.Release())
		}, 1},
		"a copy from a part": {func(t *testing.T, p *Pool, s, _ device.Stream) {
			b, to := mustGet(t, p, 1000), mustGet(t, p, 10)
			x := b.Block()
			check.Must(t, to.UsedOn(s), s.Copy(to.Block(), device.Block{Region: x.Region, Off: x.Off + 990, Len: 10}), b.Release(), to.Release())
		}, 1},
		"another stream is named": {func(t *testing.T, p *Pool, s, other device.Stream) {
			b := check.Ok(p.GetOn(1000, other))(t)
			check.Must(t, s.Fill(b.Block(), 1), b.Release())
		}, 1},
		"UsedOn": {func(t *testing.T, p *Pool, s, _ device.Stream) {
			b := mustGet(t, p, 1000)
			check.Must(t, s.Fill(b.Block(), 1), b.UsedOn(s), b.Release())
		}, 0},
		"GetOn": {func(t *testing.T, p *Pool, s, _ device.Stream) {
			b := check.Ok(p.GetOn(1000, s))(t)
			check.Must(t, s.Fill(b.Block(), 1), b.Release())
		}, 0},
		"Sync": {func(t *testing.T, p *Pool, s, _ device.Stream) {
			b := mustGet(t, p, 1000)
			check.Must(t, s.Fill(b.Block(), 1), s.Sync(), b.Release())
		}, 0},
		"a stream that waits for the work is named": {func(t *testing.T, p *Pool, s, other device.Stream) {
			b := mustGet(t, p, 1000)
			check.Must(t, s.Fill(b.Block(), 1))
			check.Must(t, other.Wait(check.Ok(s.Record())(t)), b.UsedOn(other), b.Release())
		}, 0},
		"work on a neighbour": {func(t *testing.T, p *Pool, s, _ device.Stream) {
			b, other := mustGet(t, p, 1000), mustGet(t, p, 1000)
			check.Must(t, s.Fill(other.Block(), 1), b.Release(), s.Sync(), other.Release())
		}, 0},
		"the stream has failed": {func(t *testing.T, p *Pool, s, _ device.Stream) {
			b := mustGet(t, p, 1000)
			_ = s.Fill(device.Block{Len: 1}, 1)
			check.Wraps(t, s.Fill(b.Block(), 1), device.ErrSize)
			check.Must(t, b.Release())
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			for _, strategy := range []string{"slab", "exact"} {
				d := sim.New(64 << 20)
				d.Late(7)
				p := mustOpen(t, d, Config{Check: true, Strategy: strategy, Logger: slog.New(slog.DiscardHandler)})
				c.program(t, p, check.Ok(d.NewStream())(t), check.Ok(d.NewStream())(t))
				var e *CheckError
				err := p.Close()
				if errors.As(err, &e) != (c.faults > 0) || e != nil && len(e.Faults) != c.faults {
					t.Fatalf("%s: %v", strategy, err)
				}
				if e != nil && (!strings.Contains(e.Faults[0], "underway_test.go:") || !strings.Contains(e.Faults[0], "while a stream works on it")) {
					t.Error(e.Faults[0])
				}
			}
		})
	}
}

// What keeps buffers of a pool for new owners has it look at them as Release does.
func TestAWatcherLooksAtKeptBuffers(t *testing.T) {
	d := sim.New(64 << 20)
	d.Late(7)
	conf := Config{Check: true, Strategy: "exact", Logger: slog.New(slog.DiscardHandler)}
	p := mustOpen(t, d, conf)
	for name, q := range map[string]*Pool{"without check": openPool(t, "sim", Config{}), "of another device": openPool(t, "mmap", conf), "not opened": {}} {
		if watcherOf(q) != nil {
			t.Errorf("a pool %s looks", name)
		}
	}
	s, look := check.Ok(d.NewStream())(t), watcherOf(p)
	idle, busy, gone := mustGet(t, p, 1000), mustGet(t, p, 2000), mustGet(t, p, 3000)
	mustRelease(t, gone)
	check.Must(t, s.Fill(busy.Block(), 1))
	for _, b := range []PooledBuffer{{}, gone, idle, busy} {
		look(b, underway.Ended{What: "kept", By: "Keep"})
	}
	check.Must(t, s.Sync())
	releaseAll(t, []PooledBuffer{idle, busy})
	var e *CheckError
	if err := p.Close(); !errors.As(err, &e) || len(e.Faults) != 1 || !strings.Contains(e.Faults[0], "kept of 2000 bytes") {
		t.Error(err)
	}
}
