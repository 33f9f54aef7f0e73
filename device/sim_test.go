package device

import (
	"bytes"
	"errors"
	"testing"
)

func TestSimCapacityIsExact(t *testing.T) {
	d := NewSim(1000)
	a := allocated(t, d, 999)
	b := allocated(t, d, 1)
	_, err := d.Alloc(1)
	wantErr(t, err, ErrOutOfMemory)
	d.Free(b)
	d.Free(a)
	d.Free(allocated(t, d, 1000))
	if free, total, err := d.MemInfo(); free != 1000 || total != 1000 || err != nil {
		t.Errorf("%d of %d free, %v", free, total, err)
	}
}

// A device larger than the machine costs what is written to it.
func TestSimIsLazy(t *testing.T) {
	d := NewSim(1 << 30)
	b := allocated(t, d, 1<<30)
	h := allocated(t, opened(t, "heap"), 4)
	copy(Bytes(h), "tail")
	end := Block{b.Region, 1<<30 - 4, 4}
	if err := d.Copy(end, h); err != nil {
		t.Fatal(err)
	}
	clear(Bytes(h))
	if err := d.Copy(h, end); err != nil || string(Bytes(h)) != "tail" {
		t.Errorf("%q, %v", Bytes(h), err)
	}
	if n := len(b.Region.(*SimRegion).pages); n != 1 {
		t.Errorf("%d pages behind 4 bytes", n)
	}
	d.Free(b)
}

func TestSimFreshContents(t *testing.T) {
	d := NewSim(1 << 20)
	h := allocated(t, opened(t, "heap"), 100)
	if err := d.Copy(h, allocated(t, d, 100)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(Bytes(h), bytes.Repeat([]byte{simFresh}, 100)) {
		t.Errorf("fresh memory is % x", Bytes(h))
	}
}

// Addresses are aligned, apart, and never used again.
func TestSimAddresses(t *testing.T) {
	d := NewSim(1 << 20)
	last := uint64(0)
	for n := 1; n < 2000; n += 17 {
		b := allocated(t, d, n)
		a := b.Region.(*SimRegion).Addr()
		if a%simAlign != 0 || a <= last {
			t.Fatalf("address %#x after one that ended at %#x", a, last)
		}
		last = a + uint64(n)
		d.Free(b)
	}
}

func TestSimOverlappingCopy(t *testing.T) {
	d := NewSim(1 << 20)
	b := allocated(t, d, 10)
	h := allocated(t, opened(t, "heap"), 10)
	copy(Bytes(h), "0123456789")
	for _, err := range []error{
		d.Copy(b, h),
		d.Copy(Block{b.Region, 1, 9}, Block{b.Region, 0, 9}),
		d.Copy(h, b),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := string(Bytes(h)); got != "0012345678" {
		t.Error(got)
	}
}

var errTest = errors.New("test")

func TestSimFaultsAtTheNthCall(t *testing.T) {
	d := NewSim(1 << 20)
	b := allocated(t, d, 10)
	s, _ := d.NewStream()
	d.FailAlloc(2, errTest)
	d.FailCopy(3, errTest)
	d.FailFill(1, errTest)
	for i, want := range []error{nil, errTest, nil} {
		if x, err := d.Alloc(1); !errors.Is(err, want) || (err != nil && x != Block{}) {
			t.Errorf("Alloc %d: %v, want %v", i+1, err, want)
		}
	}
	for i, want := range []error{nil, nil, errTest, nil} {
		if err := d.Copy(b, b); !errors.Is(err, want) {
			t.Errorf("Copy %d: %v, want %v", i+1, err, want)
		}
	}
	wantErr(t, s.Fill(b, 1), errTest)
	wantErr(t, s.Copy(b, b), errTest) // sticks to the stream
	if err := d.Copy(b, b); err != nil {
		t.Errorf("the fault of a stream is on the device: %v", err)
	}
	d.FailAlloc(1, errTest)
	d.FailAlloc(0, errTest) // taken back
	allocated(t, d, 1)
}

// A failed call changes nothing.
func TestSimFaultLeavesNoTrace(t *testing.T) {
	d := NewSim(1000)
	d.FailAlloc(1, ErrOutOfMemory)
	_, err := d.Alloc(1000)
	wantErr(t, err, ErrOutOfMemory)
	d.Free(allocated(t, d, 1000))
	if s := d.Stats(); s.ActiveBlocks != 0 || s.ActiveBytes != 0 || s.PeakBytes != 1000 {
		t.Errorf("%+v", s)
	}
}

func TestSimLost(t *testing.T) {
	d := NewSim(1000)
	b := allocated(t, d, 10)
	s, _ := d.NewStream()
	d.Lose(2)
	if err := d.Copy(b, b); err != nil {
		t.Errorf("the call before: %v", err)
	}
	wantErr(t, d.Copy(b, b), ErrDeviceLost)
	d.Lose(0) // no cure
	_, err := d.Alloc(1)
	wantErr(t, err, ErrDeviceLost)
	_, _, err = d.MemInfo()
	wantErr(t, err, ErrDeviceLost)
	_, err = d.NewStream()
	wantErr(t, err, ErrDeviceLost)
	wantErr(t, s.Fill(b, 1), ErrDeviceLost)
	wantErr(t, s.Sync(), ErrDeviceLost)
	d.Free(b)
	if n := d.Stats().ActiveBytes; n != 0 {
		t.Errorf("%d bytes active after Free on a lost device", n)
	}
	if err := d.Close(); err != nil {
		t.Errorf("Close of a lost device: %v", err)
	}
}

func TestSimStats(t *testing.T) {
	d := NewSim(1 << 20)
	h := allocated(t, opened(t, "heap"), 100)
	a, b := allocated(t, d, 100), allocated(t, d, 100)
	s, _ := d.NewStream()
	_ = d.Copy(a, h)
	_ = s.Copy(b, a)
	_ = d.Copy(Block{h.Region, 0, 50}, Block{b.Region, 0, 50})
	_ = d.Copy(h, Block{b.Region, 0, 50}) // counts, moves nothing
	_ = s.Fill(Block{a.Region, 0, 7}, 1)
	d.Free(b)
	want := SimStats{
		AllocCalls: 2, FreeCalls: 1, CopyCalls: 4, FillCalls: 1,
		ToDeviceCopies: 1, ToHostCopies: 1, WithinCopies: 1,
		ToDeviceBytes: 100, ToHostBytes: 50, WithinBytes: 100, FillBytes: 7,
		ActiveBlocks: 1, ActiveBytes: 100, PeakBytes: 200,
	}
	if got := d.Stats(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestSimNilFaultPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	NewSim(1).FailCopy(1, nil)
}
