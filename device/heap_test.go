package device

import (
	"math"
	"runtime"
	"sync"
	"testing"
	"weak"

	"github.com/bufslab/bufslab/internal/check"
)

func TestHeapAlignsAndDoesNotCountSlack(t *testing.T) {
	d := opened(t, "heap")
	for n := 1; n < 70000; n += 1 + n/9 {
		for range 20 { // several objects of a size class
			b := check.Ok(d.Alloc(n))(t)
			if a := address(Bytes(b)) % uintptr(alignOf(n)); a != 0 {
				t.Fatalf("%d bytes are %d off their alignment", n, a)
			}
			if b.Region.Size() != n {
				t.Fatalf("%d bytes are a region of %d", n, b.Region.Size())
			}
		}
	}
}

// What the comment of heap says, in numbers. The runtime has no size class of 2560 or
// 3584 bytes, and puts such objects at multiples of 128 or less.
func TestHeapAlignment(t *testing.T) {
	d := opened(t, "heap")
	for n, want := range map[int]uintptr{
		1: 16, 24: 16, 48: 16, 63: 16, 64: 64, 65: 64, 96: 64, 100: 64, 192: 64, 384: 128, 640: 128, 2560: 512,
		3584: 512, 4096: 4096, 5120: 1024, 6144: 2048, 12 << 10: 4096, 40 << 10: 4096, 1 << 20: 4096,
	} {
		for range 20 {
			if a := address(Bytes(check.Ok(d.Alloc(n))(t))); a%want != 0 {
				t.Errorf("%d bytes at %#x, no multiple of %d", n, a, want)
			}
		}
	}
}

// The allocation has all the bytes from the offset on, and less than the alignment more.
func TestMakeAligned(t *testing.T) {
	for _, size := range []int{1, 15, 16, 17, 100, 2560, 3584, 4095, 4096, 4097, 5120, 40 << 10} {
		for align := 16; align <= 1<<16; align *= 2 {
			for range 4 {
				m, off := makeAligned(size, align)
				if off < 0 || len(m)-off < size || len(m) >= size+align || address(m[off:])%uintptr(align) != 0 {
					t.Errorf("%d bytes aligned to %d are at %d of %d bytes at %#x", size, align, off, len(m), address(m))
				}
			}
		}
	}
}

// More than the machine has is not even tried.
func TestHeapLimit(t *testing.T) {
	if _, total, err := systemMemory(); err == nil && int64(heapLimit()) != min(total, addressable) {
		t.Errorf("%d bytes are tried where the machine has %d", heapLimit(), total)
	}
}

func TestHeapRefusesWhatMakeWouldDieOf(t *testing.T) {
	d := opened(t, "heap")
	for _, n := range []int{heapLimit() + 1, math.MaxInt - 62, math.MaxInt} {
		check.Wraps(t, check.Err(d.Alloc(n)), ErrOutOfMemory)
	}
}

// No finalizer before Watch, no weak pointer before Loosen: one object for
// the region and one for the memory.
func TestHeapUnwatchedCostsTwoAllocations(t *testing.T) {
	d := opened(t, "heap")
	allocs := check.Allocs(100, func() {
		b, _ := d.Alloc(4096)
		d.Free(b)
	})
	aligned := true // not under -asan, which needs slack for all but a few objects
	var several [100][]byte
	for i := range several {
		several[i] = dirty(4096)
		aligned = aligned && address(several[i])%uintptr(alignOf(4096)) == 0
	}
	if allocs > 2 && aligned {
		t.Errorf("%v allocations", allocs)
	}
}

func TestLoosenWithoutWatchLetsTheMemoryGo(t *testing.T) {
	d := opened(t, "heap")
	b := check.Ok(d.Alloc(1000))(t)
	r := b.Region.(*heapRegion)
	r.Loosen()
	gcUntil(t, func() bool { return Bytes(b) == nil })
	if r.Hold() {
		t.Error("Hold of collected memory")
	}
	d.Free(b)
}

// A forgotten region does not keep its memory, watched or not: the finalizer
// has no region to tell.
func TestForgottenRegionGoes(t *testing.T) {
	d := opened(t, "heap")
	for _, loosen := range []bool{false, true} {
		w := func() weak.Pointer[heapRegion] {
			b := check.Ok(d.Alloc(1000))(t)
			r := b.Region.(*heapRegion)
			r.Watch(func() { t.Error("lost was called for a region that is gone") })
			if loosen {
				r.Loosen()
			}
			return weak.Make(r)
		}()
		gcUntil(t, func() bool { return w.Value() == nil })
		gcUntil(t, func() bool { return true })
	}
}

func TestWatchTwicePanics(t *testing.T) {
	r := check.Ok(opened(t, "heap").Alloc(10))(t).Region.(*heapRegion)
	r.Watch(func() {})
	check.Panics(t, "second Watch", func() { r.Watch(func() {}) })
}

// Memory that is freed after the collector has found it does not come back.
func TestFreedWhenItIsFound(t *testing.T) {
	d := opened(t, "heap")
	b := check.Ok(d.Alloc(1000))(t)
	r := b.Region.(*heapRegion)
	held := make(chan bool, 1)
	r.Watch(func() {
		d.Free(b)
		held <- r.Hold()
	})
	r.Loosen()
	gcUntil(t, func() bool { return len(held) > 0 })
	if <-held || Bytes(b) != nil {
		t.Error("freed memory is held")
	}
}

// Bytes, Loosen and Hold race with each other and with the collector; what
// Bytes returns has the right contents.
func TestCollectedIsSafeForConcurrentUse(t *testing.T) {
	d := opened(t, "heap")
	b := check.Ok(d.Alloc(1000))(t)
	Fill(Bytes(b), 9)
	r := b.Region.(*heapRegion)
	r.Watch(func() { r.Hold() })
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 300 {
				switch (g + i) % 4 {
				case 0:
					r.Loosen()
				case 1:
					r.Hold()
				case 2:
					if m := Bytes(b); m != nil && (m[0] != 9 || m[999] != 9) {
						t.Errorf("bytes are %d and %d, not 9", m[0], m[999])
					}
				case 3:
					if i%30 == 0 {
						runtime.GC()
					}
				}
			}
		}()
	}
	wg.Wait()
	gcUntil(t, r.Hold)
	if m := Bytes(b); m == nil || m[500] != 9 {
		t.Error("held memory is not what it was")
	}
	d.Free(b)
}

// gcUntil runs the collector, and each time the finalizers due, until done.
func gcUntil(t *testing.T, done func() bool) {
	t.Helper()
	for range 1000 {
		if check.Cycle() && done() {
			return
		}
	}
	t.Fatal("1000 collections were not enough")
}
