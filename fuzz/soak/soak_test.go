package soak

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// What the soak is there to notice, it has to notice, on devices that break their word.
func TestBrokenDevicesAreFound(t *testing.T) {
	defer settle()()
	for _, scheme := range []string{"overlapping", "hasty"} {
		t.Run(scheme, func(t *testing.T) {
			if scheme == "overlapping" && instrumented {
				t.Skip("the race detector finds it first")
			}
			found := &counting{TB: t}
			s := &soak{t: found, counts: countsOf(anywhere), r: rand.New(rand.NewPCG(1, 2))}
			for range 20 {
				if found.errors.Load() == 0 {
					s.round(slab.Config{Device: scheme}, 4000)
				}
			}
			if found.errors.Load() == 0 {
				t.Error("nothing was found")
			}
		})
	}
}

// A process that has more than it began with, and more than quarantine explains, fails.
func TestGrowthIsFound(t *testing.T) {
	if instrumented {
		t.Skip("the process grows by itself")
	}
	for _, c := range []struct {
		more footprint
		want int64
	}{{footprint{60 << 20, 250 << 20}, 0}, {footprint{70 << 20, 0}, 1}, {footprint{0, 300 << 20}, 1}} {
		found := &counting{TB: t}
		s := &soak{t: found, counts: countsOf(anywhere)}
		if s.compare(footprint{}, c.more); found.errors.Load() != c.want {
			t.Errorf("%d findings of %+v, not %d", found.errors.Load(), c.more, c.want)
		}
		s.left.Store(20 << 20)
		s.quarantined.Store(40 << 20)
		if s.compare(footprint{}, c.more); found.errors.Load() != c.want {
			t.Errorf("%d findings of %+v, not %d, where quarantine explains them", found.errors.Load(), c.more, c.want)
		}
	}
}

// counting is a test that does not fail.
type counting struct {
	testing.TB
	errors atomic.Int64
}

func (c *counting) Errorf(f string, a ...any) { c.errors.Add(1); c.Logf(f, a...) }

func init() {
	device.Register("overlapping", func(string) (device.Device, error) {
		d, err := device.Open("virtual")
		return &overlapping{Device: d}, err
	})
	device.Register("hasty", func(string) (device.Device, error) {
		d, err := device.Open("sim:late=1")
		return hasty{d}, err
	})
}

// overlapping has the same bytes in all its regions.
type overlapping struct {
	device.Device
	bytes [64 << 20]byte
}

func (d *overlapping) Alloc(size int) (device.Block, error) {
	if size > len(d.bytes) {
		return device.Block{}, device.ErrOutOfMemory
	}
	return device.Block{Region: &shared{d.bytes[:size:size]}, Len: size}, nil
}

func (d *overlapping) Free(device.Block) {}

type shared struct{ m []byte }

func (s *shared) Size() int     { return len(s.m) }
func (s *shared) Bytes() []byte { return s.m }

// The events of hasty are done before the work is.
type hasty struct{ device.Device }

func (d hasty) NewStream() (device.Stream, error) {
	s, err := d.Device.NewStream()
	return hastyStream{s}, err
}

type hastyStream struct{ device.Stream }

func (s hastyStream) Record() (device.Event, error) { return over{}, nil }

type over struct{}

func (over) Done() bool  { return true }
func (over) Sync() error { return nil }
