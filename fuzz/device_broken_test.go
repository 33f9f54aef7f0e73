package fuzz_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/fuzz"
	"github.com/bufslab/bufslab/slab"
)

// A deaf device has streams with a fault: the functions here stand in for the
// methods of a stream of a device that is late.
type deaf struct {
	device.Device
	wait func(s device.Stream, e device.Event) error
	sync func(s device.Stream) error
	done func(e device.Event) bool
}

type deafStream struct {
	device.Stream
	of *deaf
}

type deafEvent struct {
	device.Event
	of *deaf
}

func (d *deaf) NewStream() (device.Stream, error) {
	s, err := d.Device.NewStream()
	return &deafStream{s, d}, err
}

func (s *deafStream) Wait(e device.Event) error {
	if s.of.wait != nil {
		return s.of.wait(s.Stream, e.(*deafEvent).Event)
	}
	return s.Stream.Wait(e.(*deafEvent).Event)
}

func (s *deafStream) Sync() error {
	if s.of.sync != nil {
		return s.of.sync(s.Stream)
	}
	return s.Stream.Sync()
}

func (s *deafStream) Record() (device.Event, error) {
	e, err := s.Stream.Record()
	return &deafEvent{e, s.of}, err
}

func (e *deafEvent) Done() bool {
	if e.of.done != nil {
		return e.of.done(e.Event)
	}
	return e.Event.Done()
}

func TestDeafStreamsAreFound(t *testing.T) {
	quick(t)
	for name, fault := range map[string]deaf{
		"no stream waits for another": {wait: func(device.Stream, device.Event) error { return nil }},
		"Sync does not wait":          {sync: func(device.Stream) error { return nil }},
		"an event is done too soon":   {done: func(device.Event) bool { return true }},
	} {
		t.Run(name, func(t *testing.T) {
			text := verdict(t, fuzz.DeviceProperty(func() (device.Device, error) {
				d := fault
				var err error
				d.Device, err = device.Open("sim:late=1")
				return &d, err
			}))
			if !strings.Contains(text, ", not ") && !strings.Contains(text, "is not done") && !strings.Contains(text, "freed region") {
				t.Errorf("not found: %q", text)
			}
		})
	}
}

// A pool that believes such events hands memory out too soon, which is found.
func TestPoolOnDeafStreamsIsFound(t *testing.T) {
	quick(t)
	text := verdict(t, fuzz.PoolProperty(pool(slab.Config{}), fuzz.OnDevice(func() (device.Device, error) {
		d, err := device.Open("sim:late=1")
		return &deaf{Device: d, done: func(device.Event) bool { return true }}, err
	})))
	if !strings.Contains(text, "another owner wrote") && !strings.Contains(text, "freed region") {
		t.Errorf("not found: %q", text)
	}
}

// A careless device copies what fits, and says that it has what it has not.
type careless struct{ device.Device }

func (d careless) Copy(dst, src device.Block) error {
	n := min(dst.Len, src.Len)
	dst.Len, src.Len = n, n
	return d.Device.Copy(dst, src)
}

type boastful struct{ device.Device }

func (d boastful) MemInfo() (free, total int64, err error) { return 3, 2, nil }

// Copies of unequal lengths that pass are found, and figures of memory that cannot be.
func TestCarelessDevicesAreFound(t *testing.T) {
	quick(t)
	for says, broken := range map[string]func(device.Device) device.Device{
		`does not wrap device.ErrSize|byte \d+ of`: func(d device.Device) device.Device { return careless{d} },
		"MemInfo says 3 of 2":                      func(d device.Device) device.Device { return boastful{d} },
	} {
		open := func() (device.Device, error) {
			d, err := device.Open("heap")
			if err != nil {
				return nil, err
			}
			return broken(d), nil
		}
		if text := verdict(t, fuzz.DeviceProperty(open)); !regexp.MustCompile(says).MatchString(text) {
			t.Errorf("no word of %q in %q", says, text)
		}
	}
}

// A hollow device gives nothing, or something else than it was asked for, and no error: the functions here stand in
// for its methods.
type hollow struct {
	device.Device
	alloc   func(d device.Device, n int) (device.Block, error)
	stream  func(d device.Device) (device.Stream, error)
	reserve func(n int) (device.Range, error)
}

func (d hollow) Alloc(n int) (device.Block, error) {
	if d.alloc != nil && n != 1 { // of one byte is the first, by which the check knows the device
		return d.alloc(d.Device, n)
	}
	return d.Device.Alloc(n)
}

func (d hollow) NewStream() (device.Stream, error) {
	if d.stream != nil {
		return d.stream(d.Device)
	}
	return d.Device.NewStream()
}

func (d hollow) Reserve(n int) (device.Range, error) {
	if d.reserve != nil {
		return d.reserve(n)
	}
	return nil, device.ErrUnavailable
}

// A silent stream has no events.
type silent struct{ device.Stream }

func (silent) Record() (device.Event, error) { return nil, nil }

// What a device gives without an error is looked at, so that the check says what is wrong and does not panic itself.
func TestHollowDevicesAreFound(t *testing.T) {
	quick(t)
	for says, fault := range map[string]hollow{
		"gave no region and no error": {alloc: func(_ device.Device, n int) (device.Block, error) {
			return device.Block{Len: n}, nil
		}},
		"at offset 8 of a region of": {alloc: func(d device.Device, n int) (device.Block, error) {
			b, err := d.Alloc(n)
			if n > 0 {
				b.Off = 8
			}
			return b, err
		}},
		"not the zero Block": {alloc: func(d device.Device, n int) (device.Block, error) {
			b, err := d.Alloc(max(n, 1))
			b.Len = n
			return b, err
		}},
		"gave no stream and no error": {stream: func(device.Device) (device.Stream, error) { return nil, nil }},
		"gave no event and no error": {stream: func(d device.Device) (device.Stream, error) {
			s, err := d.NewStream()
			return silent{s}, err
		}},
		"gave no range and no error": {reserve: func(int) (device.Range, error) { return nil, nil }},
	} {
		text := verdict(t, fuzz.DeviceProperty(func() (device.Device, error) {
			d, err := device.Open("sim")
			f := fault
			f.Device = d
			return f, err
		}))
		if first, _, _ := strings.Cut(text, "\n"); !strings.Contains(first, says) {
			t.Errorf("no word of %q in %q", says, text)
		}
	}
}
