package sim

import (
	"bytes"
	"math"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/internal/devcheck"
	"github.com/bufslab/bufslab/internal/check"
)

// What is overwritten before a late copy has read it arrives overwritten, for
// most seeds; after Sync never.
func TestLateCopyReadsItsSourceWhenItIsDone(t *testing.T) {
	wrong := 0
	for seed := range uint64(100) {
		for _, waits := range []bool{false, true} {
			d, s, b := lateDevice(t, seed)
			m := []byte{1}
			check.Must(t, s.Copy(devcheck.Part(b, 0, 1), device.Host(m)))
			if waits {
				check.Must(t, s.Sync())
			}
			m[0] = 2
			check.Must(t, s.Sync())
			if got := first(t, d, b); got != 1 && waits {
				t.Fatalf("seed %d: %d, not 1, although the program waited", seed, got)
			} else if got != 1 {
				wrong++
			}
		}
	}
	if wrong < 50 {
		t.Errorf("a missing wait showed in %d runs of 100", wrong)
	}
}

// The same seed gives the same run, another one another.
func TestLateIsDeterministic(t *testing.T) {
	run := func(seed uint64) (log []byte) {
		d, s, b := lateDevice(t, seed)
		o := devcheck.Stream(t, d)
		for i := range 100 {
			check.Must(t, s.Fill(b, byte(2*i)), o.Fill(b, byte(2*i+1)))
			log = append(log, first(t, d, b))
		}
		return append(log, d.Clock().String()...)
	}
	if !bytes.Equal(run(1), run(1)) {
		t.Error("two runs with one seed differ")
	}
	if bytes.Equal(run(1), run(2)) {
		t.Error("two seeds give the same run")
	}
}

// Work of one stream is done in order, of several in any.
func TestLateOrder(t *testing.T) {
	overtaken := false
	for seed := range uint64(20) {
		d, s, b := lateDevice(t, seed)
		o := devcheck.Stream(t, d)
		var order, one []int
		for i := range 20 {
			note := func(...[]byte) {
				order = append(order, i)
				if i%2 == 0 {
					one = append(one, i)
				}
			}
			on := []device.Stream{s, o}[i%2].(*Stream)
			check.Must(t, on.Launch(0, note, b))
		}
		check.Must(t, s.Sync(), o.Sync())
		if len(order) != 20 || !slices.IsSorted(one) {
			t.Fatalf("seed %d: order %v", seed, order)
		}
		overtaken = overtaken || !slices.IsSorted(order)
	}
	if !overtaken {
		t.Error("no stream ever overtook the other")
	}
}

// Copy of the device waits for no stream, but what Wait waits for is there.
func TestLateWaits(t *testing.T) {
	early := 0
	for seed := range uint64(100) {
		d, s, b := lateDevice(t, seed)
		o, c := devcheck.Stream(t, d), devcheck.Alloc(t, d, 100)
		check.Must(t, s.Fill(b, 1))
		if first(t, d, b) == 0 {
			early++
		}
		check.Must(t, o.Wait(devcheck.Record(t, s)), o.Copy(c, b), o.Sync())
		if first(t, d, c) != 1 {
			t.Fatalf("seed %d: Wait did not wait", seed)
		}
	}
	if early < 50 {
		t.Errorf("a missing wait showed in %d runs of 100", early)
	}
}

// Pinned memory is the host's, counted by the device, and no part of its capacity.
func TestPinned(t *testing.T) {
	d := New(1)
	p := check.Ok(d.Pinned())(t)
	b := devcheck.Alloc(t, p, 1000) // no power of two
	if s := d.Stats(); s.PinnedBlocks != 1 || s.PinnedBytes != 1000 || s.ActiveBytes != 0 {
		t.Errorf("%+v", s)
	}
	d.FailAlloc(1, errTest)
	check.Wraps(t, check.Err(p.Alloc(1)), errTest)
	d.FailAlloc(1, errTest)
	check.Wraps(t, check.Err(p.Alloc(math.MaxInt)), errTest) // which the host would refuse
	check.Wraps(t, check.Err(p.Alloc(math.MaxInt)), device.ErrOutOfMemory)
	if n := d.Stats().AllocCalls; n != 4 {
		t.Errorf("%d of 4 calls of Alloc counted", n)
	}
	d.Lose(1)
	check.Wraps(t, check.Err(d.Pinned()), device.ErrDeviceLost)
	check.Wraps(t, check.Err(p.Alloc(1)), device.ErrDeviceLost)
	p.Free(b)
	if s := d.Stats(); s.PinnedBlocks != 0 || s.PinnedBytes != 0 || s.FreeCalls != 1 {
		t.Errorf("after Free of all: %+v", s)
	}
}

// Pinned memory is aligned as asked, and has the bytes asked for.
func TestPinnedIsAligned(t *testing.T) {
	p := &New(1).pinned
	for _, size := range []int{1, 100, hostAlign, 10 * hostAlign} {
		for align := hostAlign / 2; align <= 16*hostAlign; align *= 2 {
			for range 4 { // one of them would not lie there by chance
				m := device.Bytes(check.Ok(p.AllocAligned(size, align))(t))
				at, multiple := uintptr(unsafe.Pointer(unsafe.SliceData(m))), align
				if align <= hostAlign {
					multiple = min(align, size&-size)
				}
				if len(m) != size || cap(m) != size || at%uintptr(multiple) != 0 {
					t.Errorf("%d bytes of %d at %#x, aligned to %d", len(m), cap(m), at, align)
				}
				device.Fill(m, 1)
			}
		}
	}
	check.Wraps(t, check.Err(p.AllocAligned(math.MaxInt-1<<20, 1<<16)), device.ErrOutOfMemory)
}

// A stream waits for an event of its device without a wait of the host, and the host waits for those of others.
func TestHostsWaitForEventsOfOthers(t *testing.T) {
	d, other := slow(), slow()
	b, c := devcheck.Alloc(t, d, 1), devcheck.Alloc(t, other, 1)
	s, o, away := devcheck.Stream(t, d), devcheck.Stream(t, d), devcheck.Stream(t, other)
	check.Must(t, s.Fill(b, 1))
	e := devcheck.Record(t, s)
	check.Must(t, o.Wait(e))
	if now := d.Clock(); now != 0 {
		t.Errorf("the host has waited for %v", now)
	}
	check.Must(t, away.Wait(e), away.Fill(c, 1))
	if d.Clock() != time.Millisecond || other.Clock() != 0 {
		t.Errorf("it is %v where the event is, and %v where it is waited for", d.Clock(), other.Clock())
	}
	check.Must(t, away.Sync())
	if now := other.Clock(); now != time.Millisecond {
		t.Errorf("a fill behind it ended at %v", now)
	}
}

// A stream accepts no byte that was freed.
func TestAcceptsNothingFreed(t *testing.T) {
	d := New(10)
	s, b := devcheck.Stream(t, d).(*Stream), devcheck.Alloc(t, d, 1)
	check.Must(t, s.Accepts(b), s.Accepts(device.Block{}))
	d.Free(b)
	check.Wraps(t, s.Accepts(b), device.ErrUnavailable)
	check.Must(t, s.Accepts(devcheck.Part(b, 0, 0)))
}
