package metal

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/device/metal/internal/double"
	"github.com/bufslab/bufslab/internal/check"
)

// Every code of a command buffer means one of three things.
func TestEveryCodeMeansSomething(t *testing.T) {
	want := map[int]error{8: device.ErrOutOfMemory, 4: device.ErrDeviceLost, 11: device.ErrDeviceLost}
	for code := range 20 {
		e := &Error{Call: "commit", Code: code, Detail: "a copy of 4 bytes"}
		meaning := want[code]
		if meaning == nil {
			meaning = device.ErrUnavailable
		}
		if e.Unwrap() != meaning {
			t.Errorf("code %d means %v", code, e.Unwrap())
		}
	}
	for code := range 20 { // those of MTLCommandBufferError
		known := slices.Contains([]int{1, 2, 3, 4, 7, 8, 9, 10, 11, 12}, code)
		if known == (nameOf(code) == nameOf(77)) {
			t.Errorf("code %d is %q", code, nameOf(code))
		}
	}
	for want, e := range map[string]*Error{
		"metal: commit of a copy of 4 bytes: out of memory (8), no room: out of memory":    {Call: "commit", Code: 8, Text: "no room", Detail: "a copy of 4 bytes"},
		"metal: newBufferWithLength:options: of 9 bytes: returned nil: out of memory":      {Call: selectorNames[selNewBuffer], Detail: "9 bytes"},
		"metal: newCommandQueue of metal:0: returned nil: unavailable":                     {Call: selectorNames[selNewQueue], Detail: "metal:0"},
		"metal: commit of a fill of 4 bytes: a code without a name here (77): unavailable": {Call: "commit", Code: 77, Detail: "a fill of 4 bytes"},
	} {
		if e.Error() != want {
			t.Errorf("%s, not %s", e, want)
		}
	}
}

// The error of a stream is that of its earliest work that failed, the first that was said of it.
func TestTheEarliestFailureCounts(t *testing.T) {
	five, three, other := errors.New("five"), errors.New("three"), errors.New("other")
	s := &Stream{}
	for _, c := range []struct {
		number    uint64
		err, want error
		from      uint64
	}{{4, nil, nil, 0}, {5, five, five, 5}, {5, other, five, 5}, {6, other, five, 5}, {3, three, three, 3}, {3, other, three, 3}, {2, nil, three, 3}} {
		s.fail(c.number, c.err)
		if s.err != c.want || s.failed != c.from {
			t.Errorf("%d, %v: %v from %d", c.number, c.err, s.err, s.failed)
		}
	}
	if s.failure(2) != nil || s.failure(3) != three || s.failure(9) != three {
		t.Error("work before the failure has failed, or work behind it has not")
	}
}

// A call that is refused fails its stream, and not the work before it.
func TestARefusedCallFailsNoWorkBeforeIt(t *testing.T) {
	d := opened(t, "metal:0")
	s, b := streamOn(t, d), allocated(t, d, 8)
	gone := devcheck.Alloc(t, d, 8)
	d.Free(gone)
	check.Must(t, s.Fill(b, 1))
	e := devcheck.Record(t, s)
	check.Wraps(t, s.Fill(gone, 2), device.ErrUnavailable)
	check.Must(t, e.Sync())
	check.Wraps(t, s.Sync(), device.ErrUnavailable)
	check.Wraps(t, streamOn(t, d).Copy(gone, b), device.ErrUnavailable)
	check.Wraps(t, streamOn(t, d).Copy(b, gone), device.ErrUnavailable)
}

// A refused Alloc changes nothing: too much for a buffer, more than there is, and nil.
func TestOutOfMemoryChangesNothing(t *testing.T) {
	for _, name := range names {
		d := opened(t, name)
		free, total, err := d.MemInfo()
		check.Must(t, err)
		for _, n := range []int64{d.Info().MaxBytes + 1, free + 1, total, math.MaxInt} {
			if n > d.Info().MaxBytes || n > free {
				check.Wraps(t, check.Err(d.Alloc(int(n))), device.ErrOutOfMemory)
			}
		}
		if double.Present() {
			double.Refuse(double.Buffer, 1)
			err := check.Err(d.Alloc(100))
			var e *Error
			if check.Wraps(t, err, device.ErrOutOfMemory); !errors.As(err, &e) || e.Code != 0 {
				t.Errorf("error %v", err)
			}
		}
		if after, _, _ := d.MemInfo(); after != free {
			t.Errorf("%s: %d bytes free, %d before", name, after, free)
		}
		allocated(t, d, 100)
	}
}

// MemInfo counts whole pages.
func TestMemInfoFollowsAllocations(t *testing.T) {
	needsDouble(t)
	for _, name := range names {
		d := opened(t, name)
		before, _, err := d.MemInfo()
		check.Must(t, err)
		b := devcheck.Alloc(t, d, 1)
		after, _, _ := d.MemInfo()
		if n := before - after; n != int64(b.Region.Size()) || n != int64(d.Traits().Grain) {
			t.Errorf("%s: a byte takes %d", name, n)
		}
		d.Free(b)
	}
}

// Work that fails when it is due fails its stream, and tells by Sync, by the event behind it, and by streams that
// have waited for it; an event before it keeps its result. Nobody waits for ever.
func TestLateFailure(t *testing.T) {
	for _, c := range []struct {
		code int
		want error
	}{{8, device.ErrOutOfMemory}, {3, device.ErrUnavailable}, {2, device.ErrUnavailable}} {
		for _, poll := range []bool{false, true} {
			lazy(t)
			d := opened(t, "metal:0")
			b := allocated(t, d, 100)
			s, other := streamOn(t, d), streamOn(t, d)
			check.Must(t, s.Fill(b, 1))
			before := devcheck.Record(t, s)
			check.Must(t, s.Fill(b, 2))
			double.Fail(1, c.code)
			e := devcheck.Record(t, s)
			check.Must(t, s.Fill(b, 3), other.Wait(e), other.Fill(b, 4))
			last, behind := devcheck.Record(t, s), devcheck.Record(t, other)
			if poll {
				late(t)
			}
			for poll && !behind.Done() { // which looks at what it waits for, and lets it go on
			}
			var said *Error
			if err := behind.Sync(); !errors.As(err, &said) || said.Code != c.code || !errors.Is(err, c.want) {
				t.Errorf("an event behind a failure: %v", err)
			}
			check.Wraps(t, e.Sync(), c.want)
			check.Wraps(t, last.Sync(), c.want)
			check.Wraps(t, s.Sync(), c.want)
			check.Wraps(t, other.Sync(), c.want)
			check.Wraps(t, s.Fill(b, 5), c.want)
			check.Wraps(t, check.Err(other.Record()), c.want)
			check.Must(t, before.Sync(), s.Close(), other.Close())
			if !e.Done() || !last.Done() {
				t.Error("an event of a failed stream is waited for")
			}
			check.Must(t, d.Copy(b, device.Host(make([]byte, 100)))) // the GPU works on
		}
	}
}

// A GPU that was removed says so at every call but Free, for ever.
func TestLostDevice(t *testing.T) {
	for _, how := range []string{"Sync", "Copy", "Done"} {
		t.Run(how, func(t *testing.T) {
			lazy(t)
			found := anew(t)
			d := check.Ok(openOn(found, "0:private"))(t)
			b, s, idle := devcheck.Alloc(t, d, 100), devcheck.Stream(t, d), devcheck.Stream(t, d)
			check.Must(t, s.Fill(b, 1))
			double.Fail(1, 11)
			defer double.Fail(0, 0)
			e := devcheck.Record(t, s)
			switch how {
			case "Sync":
				check.Wraps(t, s.Sync(), device.ErrDeviceLost)
			case "Copy":
				check.Wraps(t, d.Copy(device.Host(make([]byte, 100)), b), device.ErrDeviceLost)
			case "Done":
				late(t)
				for !e.Done() {
				}
			}
			check.Wraps(t, check.Err(d.Alloc(1)), device.ErrDeviceLost)
			check.Wraps(t, d.Copy(b, b), device.ErrDeviceLost)
			check.Wraps(t, check.Err(d.NewStream()), device.ErrDeviceLost)
			check.Wraps(t, check.Err(d.Pinned()), device.ErrDeviceLost)
			_, _, err := d.MemInfo()
			check.Wraps(t, err, device.ErrDeviceLost)
			check.Wraps(t, s.Fill(b, 1), device.ErrDeviceLost)
			check.Wraps(t, s.Sync(), device.ErrDeviceLost)
			check.Wraps(t, idle.Sync(), device.ErrDeviceLost)
			check.Wraps(t, e.Sync(), device.ErrDeviceLost)
			again := check.Ok(openOn(found, "0"))(t)
			check.Wraps(t, check.Err(again.Alloc(1)), device.ErrDeviceLost)
			d.Free(b)
			check.Must(t, s.Close(), idle.Close(), d.Close())
		})
	}
}

// Whatever Metal refuses to make, the call says so, nothing is lost, and the next one works.
func TestNilObjects(t *testing.T) {
	needsDouble(t)
	d := opened(t, "metal:0:private")
	b := allocated(t, d, 100)
	s := streamOn(t, d)
	check.Must(t, s.Fill(b, 1), s.Sync(), d.Copy(b, device.Host(make([]byte, 100)))) // what is made once is there
	for class, call := range map[int]func() error{
		double.Queue: func() error { return check.Err(d.NewStream()) },
		double.Event: func() error { return check.Err(d.NewStream()) },
		double.Commands: func() error {
			s := streamOn(t, d)
			return errors.Join(s.Fill(b, 1), s.Close())
		},
		double.Encoder: func() error {
			s := streamOn(t, d)
			return errors.Join(s.Fill(b, 1), s.Close())
		},
	} {
		before := double.Living()
		double.Refuse(class, 1)
		check.Wraps(t, call(), device.ErrUnavailable)
		if n := double.Living() - before; n != 0 {
			t.Errorf("%d objects are left where one of class %d was refused", n, class)
		}
		check.Must(t, call())
	}
	double.Refuse(double.Encoder, 1)
	check.Wraps(t, d.Copy(b, device.Host(make([]byte, 100))), device.ErrUnavailable)
	check.Must(t, d.Copy(b, device.Host(make([]byte, 100))))
	found := anew(t) // which have no memory to copy by
	d = check.Ok(openOn(found, "0:private"))(t)
	b = allocated(t, d, 101)
	double.Refuse(double.Buffer, 1)
	check.Wraps(t, d.Copy(b, device.Host(make([]byte, 101))), device.ErrOutOfMemory)
	check.Must(t, d.Copy(b, device.Host(make([]byte, 101))))
}
