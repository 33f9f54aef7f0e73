package sim

import (
	"bytes"
	"errors"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
)

func TestCapacityIsExact(t *testing.T) {
	d := New(1000)
	a := devcheck.Alloc(t, d, 999)
	b := devcheck.Alloc(t, d, 1)
	check.Wraps(t, check.Err(d.Alloc(1)), device.ErrOutOfMemory)
	d.Free(b)
	d.Free(a)
	d.Free(devcheck.Alloc(t, d, 1000))
	if free, total, err := d.MemInfo(); free != 1000 || total != 1000 || err != nil {
		t.Errorf("%d of %d free, %v", free, total, err)
	}
}

// A device of no capacity, or less, is always full.
func TestNoCapacity(t *testing.T) {
	for _, capacity := range []int64{0, -1, -1 << 40} {
		d := New(capacity)
		check.Wraps(t, check.Err(d.Alloc(1)), device.ErrOutOfMemory)
		if free, total, err := d.MemInfo(); free != 0 || total != 0 || err != nil {
			t.Errorf("%d of %d free, %v", free, total, err)
		}
	}
}

// Memory of another device is not taken back.
func TestFreeOfAnothersMemory(t *testing.T) {
	one, two := New(100), New(100)
	for _, of := range [][2]device.Device{{one, two}, {&one.pinned, &two.pinned}, {one, &one.pinned}, {&one.pinned, one}} {
		b := devcheck.Alloc(t, of[0], 10)
		check.Panics(t, "Free of another's memory", func() { of[1].Free(b) })
		of[0].Free(b)
	}
	if s := one.Stats(); s.FreeCalls != 4 || s.ActiveBlocks != 0 || s.PinnedBlocks != 0 || two.Stats() != (Stats{}) {
		t.Errorf("%+v, and of another device %+v", s, two.Stats())
	}
}

// A device larger than the machine costs what is written to it.
func TestIsLazy(t *testing.T) {
	d := New(1 << 30)
	b := devcheck.Alloc(t, d, 1<<30)
	end := devcheck.Part(b, 1<<30-4, 4)
	devcheck.Write(t, d, end, []byte("tail"))
	if got := devcheck.Read(t, d, end); string(got) != "tail" {
		t.Errorf("%q", got)
	}
	if n := len(b.Region.(*Region).pages); n != 1 {
		t.Errorf("%d pages behind 4 bytes", n)
	}
	d.Free(b)
}

func TestFreshContents(t *testing.T) {
	d := New(1 << 20)
	got := devcheck.Read(t, d, devcheck.Alloc(t, d, 100))
	check.Same(t, got, bytes.Repeat([]byte{fresh}, 100), "fresh memory")
}

// Addresses are aligned, apart, and never used again.
func TestAddresses(t *testing.T) {
	d := New(1 << 20)
	last := uint64(0)
	for n := 1; n < 2000; n += 17 {
		b := devcheck.Alloc(t, d, n)
		a := b.Region.(*Region).Addr()
		if a%addrAlign != 0 || a <= last {
			t.Fatalf("address %#x after one that ended at %#x", a, last)
		}
		last = a + uint64(n)
		d.Free(b)
	}
}

func TestFaultsAtTheNthCall(t *testing.T) {
	d := New(1 << 20)
	b := devcheck.Alloc(t, d, 10)
	s := devcheck.Stream(t, d)
	d.FailAlloc(2, errTest)
	d.FailCopy(3, errTest)
	d.FailFill(1, errTest)
	for i, want := range []error{nil, errTest, nil} {
		if x, err := d.Alloc(1); !errors.Is(err, want) || (err != nil && x != device.Block{}) {
			t.Errorf("Alloc %d: %v, want %v", i+1, err, want)
		}
	}
	for i, want := range []error{nil, nil, errTest, nil} {
		if err := d.Copy(b, b); !errors.Is(err, want) {
			t.Errorf("Copy %d: %v, want %v", i+1, err, want)
		}
	}
	check.Wraps(t, s.Fill(b, 1), errTest)
	check.Wraps(t, s.Copy(b, b), errTest) // sticks to the stream
	check.Must(t, d.Copy(b, b))           // the fault of a stream is none of the device
	d.FailAlloc(1, errTest)
	d.FailAlloc(0, errTest) // taken back
	devcheck.Alloc(t, d, 1)
}

// A call that fails counts for the other faults.
func TestFaultsCountEachCall(t *testing.T) {
	d := New(1000)
	d.FailAlloc(1, errTest)
	d.Lose(2)
	check.Wraps(t, check.Err(d.Alloc(1)), errTest)
	check.Wraps(t, check.Err(d.Alloc(1)), device.ErrDeviceLost)
}

// A failed call changes nothing.
func TestFaultLeavesNoTrace(t *testing.T) {
	d := New(1000)
	d.FailAlloc(1, device.ErrOutOfMemory)
	check.Wraps(t, check.Err(d.Alloc(1000)), device.ErrOutOfMemory)
	d.Free(devcheck.Alloc(t, d, 1000))
	if s := d.Stats(); s.ActiveBlocks != 0 || s.ActiveBytes != 0 || s.PeakBytes != 1000 {
		t.Errorf("%+v", s)
	}
}

func TestLost(t *testing.T) {
	d := New(1000)
	b := devcheck.Alloc(t, d, 10)
	s := devcheck.Stream(t, d)
	d.Lose(2)
	check.Must(t, d.Copy(b, b)) // the call before
	check.Wraps(t, d.Copy(b, b), device.ErrDeviceLost)
	d.Lose(0) // no cure
	check.Wraps(t, check.Err(d.Alloc(1)), device.ErrDeviceLost)
	_, _, err := d.MemInfo()
	check.Wraps(t, err, device.ErrDeviceLost)
	check.Wraps(t, check.Err(d.NewStream()), device.ErrDeviceLost)
	check.Wraps(t, s.Fill(b, 1), device.ErrDeviceLost)
	check.Wraps(t, s.Sync(), device.ErrDeviceLost)
	d.Free(b)
	if n := d.Stats().ActiveBytes; n != 0 {
		t.Errorf("%d bytes active after Free on a lost device", n)
	}
	check.Must(t, d.Close())
}

func TestStats(t *testing.T) {
	d := New(1 << 20)
	h := device.Host(make([]byte, 100))
	a, b := devcheck.Alloc(t, d, 100), devcheck.Alloc(t, d, 100)
	s := devcheck.Stream(t, d)
	_ = d.Copy(a, h)
	_ = s.Copy(b, a)
	_ = d.Copy(devcheck.Part(h, 0, 50), devcheck.Part(b, 0, 50))
	_ = d.Copy(h, devcheck.Part(b, 0, 50)) // counts, moves nothing
	_ = s.Fill(devcheck.Part(a, 0, 7), 1)
	d.Free(b)
	want := Stats{
		AllocCalls: 2, FreeCalls: 1, CopyCalls: 4, FillCalls: 1,
		ToDeviceCopies: 1, ToHostCopies: 1, WithinCopies: 1,
		ToDeviceBytes: 100, ToHostBytes: 50, WithinBytes: 100, FillBytes: 7,
		ActiveBlocks: 1, ActiveBytes: 100, PeakBytes: 200,
	}
	if got := d.Stats(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestNilFaultPanics(t *testing.T) {
	check.Panics(t, "FailCopy with a nil error", func() { New(1).FailCopy(1, nil) })
}
