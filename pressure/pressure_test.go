package pressure

import (
	"errors"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

func has(p *slab.Pool) bool { return slices.Contains(slices.Collect(Pools()), p) }

// Pools lists what is open, in order, and no pool that was closed.
func TestPools(t *testing.T) {
	a, b := slab.MustOpen("name=a"), slab.MustOpen("device=mmap,name=b")
	list := slices.Collect(Pools())
	i, j := slices.Index(list, a), slices.Index(list, b)
	if i < 0 || j < i {
		t.Errorf("pools %d and %d of %d", i, j, len(list))
	}
	check.Must(t, a.Close())
	if has(a) || !has(b) {
		t.Error("a pool that was closed is there, or one that is open is not")
	}
	check.Must(t, b.Close())
}

// Pools and the set behind it keep no pool alive.
func TestPoolsKeepsNoneAlive(t *testing.T) {
	gone := make(chan struct{})
	func() {
		p := slab.MustOpen("device=mmap,name=forgotten")
		runtime.AddCleanup(p, func(struct{}) { close(gone) }, struct{}{})
		if !has(p) {
			t.Error("a pool that is open is not there")
		}
	}()
	for {
		runtime.GC()
		select {
		case <-gone:
			for p := range Pools() {
				if p.Name() == "forgotten" {
					t.Error("a pool that was forgotten is there")
				}
			}
			return
		default:
		}
	}
}

// A pool that a loop sees is complete, however soon it sees it: it explains itself, and its Close closes its device.
func TestAPoolIsCompleteOnceOthersSeeIt(t *testing.T) {
	var stop atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !stop.Load() {
			for p := range Pools() {
				if p.Name() == "at once" {
					if !strings.Contains(p.Explain(), " default\n") {
						t.Error(p.Explain())
					}
					p.Close()
				}
			}
		}
	}()
	var devices []device.Device
	for range 500 {
		p, err := slab.OpenConfig(slab.Config{Name: "at once"})
		if err != nil {
			t.Fatal(err)
		}
		devices = append(devices, p.Device())
		p.Close()
	}
	stop.Store(true)
	<-ended
	for i, d := range devices {
		if _, _, err := d.MemInfo(); !errors.Is(err, device.ErrClosed) {
			t.Fatalf("the device of pool %d is open: %v", i, err)
		}
	}
}

// FreeAll gives back what all pools hold, and says how much that was.
func TestFreeAll(t *testing.T) {
	FreeAll()
	a, b := slab.MustOpen("device=mmap,strategy=exact"), slab.MustOpen("device=mmap")
	for _, p := range []*slab.Pool{a, b} {
		x := check.Ok(p.Get(1 << 20))(t)
		check.Must(t, x.Release())
	}
	held := a.Stats().ManagedBytes + b.Stats().ManagedBytes
	out := check.Ok(a.Get(4 << 20))(t) // which stays
	if n := FreeAll(); n != held || held < 2<<20 {
		t.Errorf("%d bytes went back of %d", n, held)
	}
	if n := FreeAll(); n != 0 {
		t.Errorf("%d bytes more", n)
	}
	check.Must(t, out.Release(), a.Close(), b.Close())
}

// OffHeapBytes counts mmap and page-locked memory, and not the heap, nor what is no memory of the
// machine. What is out of a closed pool counts still.
func TestOffHeapBytes(t *testing.T) {
	before := OffHeapBytes()
	for line, counts := range map[string]bool{
		"": false, "device=virtual": false, "device=sim:64MiB": false, "device=sim:64MiB:pinned": false,
		"device=mmap": true, "device=mmap:fixed": true,
	} {
		p := slab.MustOpen(line)
		b := check.Ok(p.Get(1 << 20))(t)
		want := before
		if counts {
			want += p.Stats().ManagedBytes
		}
		if got := OffHeapBytes(); got != want {
			t.Errorf("%q: %d bytes, not %d", line, got, want)
		}
		_ = p.Close() // says that b is out
		if got := OffHeapBytes(); counts && got < before+1<<20 {
			t.Errorf("%q: %d bytes while a buffer of a closed pool is out", line, got)
		}
		check.Must(t, b.Release())
		if got := OffHeapBytes(); got != before {
			t.Errorf("%q: %d bytes afterwards, not %d", line, got, before)
		}
	}
}

// AdjustMemoryLimit takes the pools' bytes off the total, and stop restores what was there.
func TestAdjustMemoryLimit(t *testing.T) {
	was := debug.SetMemoryLimit(-1)
	p := slab.MustOpen("device=mmap")
	b := check.Ok(p.Get(64 << 20))(t)
	stop := AdjustMemoryLimit(1 << 30)
	if got := debug.SetMemoryLimit(-1); got != 1<<30-OffHeapBytes() {
		t.Errorf("the limit is %d with %d bytes off the heap", got, OffHeapBytes())
	}
	stop()
	if got := debug.SetMemoryLimit(-1); got != was {
		t.Errorf("the limit is %d, and was %d", got, was)
	}
	check.Must(t, b.Release(), p.Close())
	check.Panics(t, "a negative total", func() { AdjustMemoryLimit(math.MinInt64) })
}

// The heap may grow as far as if the pool's active bytes were on it, and AdjustMemoryLimit beside it keeps its limit.
func TestAdjustGCPercent(t *testing.T) {
	percent := func() int {
		s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(s)
		return int(s[0].Value.Uint64())
	}
	before := percent()
	p := slab.MustOpen("device=mmap")
	defer p.Close()
	on := slab.MustOpen("device=heap")
	defer on.Close()
	big := check.Ok(on.Get(64 << 20))(t)
	stop := AdjustGCPercent()
	if n := percent(); n != before {
		t.Errorf("%d %% beside a pool on the heap, not %d", n, before)
	}
	stop()
	b := check.Ok(p.Get(256 << 20))(t)
	runtime.GC()
	stop = AdjustGCPercent()
	limit := AdjustMemoryLimit(1 << 30)
	if n, m := percent(), debug.SetMemoryLimit(-1); n < 3*before || m > 768<<20 {
		t.Errorf("%d %% and a limit of %d, with 256 MiB off the heap and 64 on it", n, m)
	}
	limit()
	stop()
	if n := percent(); n != before {
		t.Errorf("%d %% after stop, not %d", n, before)
	}
	check.Must(t, b.Release())
	check.Must(t, big.Release())
}
