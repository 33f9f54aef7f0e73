package unified

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// A sharing is a device whose memory the CPU reaches as it does: mmap, that says so. It counts copies.
type sharing struct {
	device.Device
	copies atomic.Int64
}

func newSharing(t *testing.T) *sharing {
	t.Helper()
	d, err := device.Open("mmap")
	if errors.Is(err, device.ErrUnavailable) {
		t.Skipf("there is no memory off the heap here: %v", err)
	}
	check.Must(t, err)
	return &sharing{Device: d}
}

func (d *sharing) Traits() device.Traits { return device.Traits{Shared: true} }

func (d *sharing) Copy(dst, src device.Block) error {
	d.copies.Add(1)
	return d.Device.Copy(dst, src)
}

// inState returns a buffer in a state, with the contents 0 to 99 where it has any.
func inState(t *testing.T, p *Pool, s State) *Buffer[int32] {
	t.Helper()
	b := check.Ok(Acquire[int32](p, cellLen))(t)
	t.Cleanup(func() { _ = b.Free() })
	switch s {
	case ho:
		check.Ok(b.Host())(t)
	case do:
		check.Ok(b.Device())(t)
	case hd:
		numbers(check.Ok(b.HostMut())(t), 0)
	case sy:
		check.Must(t, b.CopyFrom(numbers(make([]int32, cellLen), 0)), b.SyncToDevice())
	case dd:
		check.Must(t, b.CopyFrom(numbers(make([]int32, cellLen), 0)))
		check.Ok(b.DeviceMut())(t)
	}
	if b.State() != s {
		t.Fatalf("state %v, want %v", b.State(), s)
	}
	return b
}

// On shared memory every cell leads to the state that it leads to elsewhere, no bytes move, and those that would
// are counted.
func TestEveryCellOnSharedMemory(t *testing.T) {
	d := newSharing(t)
	p := NewPool(d, PoolConfig{})
	eachCell(func(s State, c access, x cell) {
		t.Run(fmt.Sprintf("%v,%d", s, c), func(t *testing.T) {
			b := inState(t, p, s)
			before := p.MemoryUsage()
			err := perform(b, c)
			if (err != nil) != (x.do == lose || x.do == void) {
				t.Errorf("error %v", err)
			}
			u := p.MemoryUsage()
			calls, bytes := u.UncopiedCalls-before.UncopiedCalls, u.UncopiedBytes-before.UncopiedBytes
			if want := int64(0); x.do == pull && (calls != 1 || bytes != cellLen*4) || x.do != pull && calls+bytes != want {
				t.Errorf("%d copies of %d bytes were not made", calls, bytes)
			}
			if b.State() != x.next {
				t.Errorf("state %v, want %v", b.State(), x.next)
			}
			if !c.overwrites() {
				want := make([]int32, cellLen)
				if s == hd || s == sy || s == dd {
					numbers(want, 0)
				}
				check.Same(t, check.Ok(b.ToSlice())(t), want, "contents")
			}
		})
	})
	before := p.MemoryUsage()
	part := check.Ok(inState(t, p, hd).View(10, 30))(t)
	check.Must(t, part.SyncToDevice())
	if u := p.MemoryUsage(); u.UncopiedCalls-before.UncopiedCalls != 1 || u.UncopiedBytes-before.UncopiedBytes != 20*4 {
		t.Errorf("of 20 elements %d bytes were not copied", u.UncopiedBytes-before.UncopiedBytes)
	}
	if n := d.copies.Load(); n != 0 {
		t.Errorf("%d copies were made", n)
	}
}

// Both sides are the same bytes of one block of the device's pool, and the host's pools give none.
func TestSharedMemoryIsTakenOnce(t *testing.T) {
	d := newSharing(t)
	p := NewPool(d, PoolConfig{})
	for _, pinned := range []bool{false, true} {
		acquire := Acquire[byte]
		if pinned {
			acquire = AcquirePinned[byte]
		}
		b := check.Ok(acquire(p, 5000))(t)
		before := hosts.opened()
		m, x := check.Ok(b.HostMut())(t), check.Ok(b.Device())(t)
		if unsafe.SliceData(m) != unsafe.SliceData(device.Bytes(x)) {
			t.Error("the two sides are two places")
		}
		if u := p.MemoryUsage(); u.Device.ActiveBytes != 5000 || u.Pinned.ActiveBytes != 0 || before != hosts.opened() {
			t.Errorf("%+v", u)
		}
		check.Must(t, b.Free())
		if u := p.MemoryUsage(); u.Device.ActiveBytes != 0 {
			t.Errorf("after Free %+v", u.Device)
		}
	}
}

// Beside a slab pool for the host side the memory is not shared: there are two copies.
func TestSharedMemoryBesideAHostPool(t *testing.T) {
	host := slab.MustOpen("device=heap")
	for copies, h := range []*slab.Pool{nil, host} {
		d := newSharing(t)
		dev := check.Ok(slab.Open(d, slab.Config{}))(t)
		b := check.Ok(Acquire[byte](NewPoolOn(h, dev, PoolConfig{}), 100))(t)
		check.Must(t, b.Fill(1), b.SyncToDevice())
		if n := d.copies.Load(); n != int64(copies) {
			t.Errorf("with a host pool: %t, %d copies", h != nil, n)
		}
		check.Must(t, b.Free(), dev.Close())
	}
	check.Must(t, host.Close())
}

// AcquireContext takes the memory once, too, and a Release keeps it for the next.
func TestSharedMemoryIsWaitedForOnce(t *testing.T) {
	dev := check.Ok(slab.Open(newSharing(t), slab.Config{MaxBytes: 1 << 20, Strategy: "exact"}))(t)
	p := NewPoolOn(nil, dev, PoolConfig{})
	for range 3 { // of which two would not fit, and one does
		b := check.Ok(AcquireContext[byte](t.Context(), p, 1<<20))(t)
		check.Must(t, b.Fill(1), b.SyncToDevice(), b.Release())
	}
	if s := dev.Stats(); s.Misses != 1 || s.ActiveBytes != 1<<20 {
		t.Errorf("%+v", s)
	}
	p.Clear()
	check.Must(t, dev.Close())
}

// A buffer that is forgotten gives its memory back, unless a slice of it was handed out.
func TestForgottenSharedBuffers(t *testing.T) {
	dev := check.Ok(slab.Open(newSharing(t), slab.Config{Strategy: "exact"}))(t)
	p := NewPoolOn(nil, dev, PoolConfig{})
	func() { check.Must(t, check.Ok(Acquire[byte](p, 4096))(t).Fill(1)) }()
	for range 1000 {
		if runtime.GC(); dev.Stats().ActiveBlocks == 0 {
			break
		}
		runtime.Gosched()
	}
	if s := dev.Stats(); s.ActiveBlocks != 0 {
		t.Errorf("a buffer without a slice is not back: %+v", s)
	}
	m := func() []byte { return check.Ok(check.Ok(Acquire[byte](p, 4096))(t).HostMut())(t) }()
	for range 20 {
		runtime.GC()
		b := check.Ok(Acquire[byte](p, 4096))(t)
		x := check.Ok(b.Device())(t)
		if unsafe.SliceData(device.Bytes(x)) == unsafe.SliceData(m) {
			t.Fatal("memory of a slice that is in use is another buffer's")
		}
		check.Must(t, b.Free())
	}
}
