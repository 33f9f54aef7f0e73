package unified_test

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
)

// slabOn opens a slab.Pool until the end of the test.
func slabOn(t testing.TB, up slab.Allocator, c slab.Config) *slab.Pool {
	t.Helper()
	p := check.Ok(slab.Open(up, c))(t)
	t.Cleanup(func() { p.Close() })
	return p
}

func heap(t testing.TB) device.Device { return check.Ok(device.Open("heap"))(t) }

// bothSides gives a buffer memory on both sides.
func bothSides(t testing.TB, b *unified.Buffer[byte]) {
	t.Helper()
	check.Must(t, b.Fill(1))
	check.Ok(b.Device())(t)
}

// The memory of both sides is that of the slab pools, by their strategy, within their
// budget and in their statistics.
func TestPoolOnSlabPools(t *testing.T) {
	d := sim.New(64 << 20)
	host := slabOn(t, heap(t), slab.Config{Strategy: "direct"})
	dev := slabOn(t, d, slab.Config{Strategy: "exact", MaxBytes: 3000})
	p := unified.NewPoolOn(host, dev, unified.PoolConfig{})
	a := acquired[byte](t, p, 2000)
	bothSides(t, a)
	wantDevice(t, d, a, 1, 1)
	for side, s := range map[string]slab.Stats{"host": host.Stats(), "device": dev.Stats()} {
		if s.ActiveBytes != 2000 || s.ManagedBytes != 2000 {
			t.Errorf("%s: %+v", side, s)
		}
	}
	if u := p.MemoryUsage(); u.Device != dev.Stats() || u.Host != host.Stats() || u.Pinned != (slab.Stats{}) {
		t.Errorf("%+v", u)
	}
	b := acquired[byte](t, p, 1500)
	check.Must(t, b.Fill(2))
	check.Wraps(t, check.Err(b.Device()), device.ErrOutOfMemory) // of dev's budget
	check.Must(t, a.Release())
	wantDevice(t, d, b, 2, 2) // which what is kept makes room for
	if s := dev.Stats(); s.PeakManagedBytes > 3000 || p.Device() != d {
		t.Errorf("%+v, device %v", s, p.Device())
	}
}

// Where no host pool is given, host memory is the default, and pinned memory that of the device.
func TestPoolOnWithoutAHostPool(t *testing.T) {
	d := sim.New(64 << 20)
	p := unified.NewPoolOn(nil, slabOn(t, d, slab.Config{}), unified.PoolConfig{})
	bothSides(t, acquired[byte](t, p, 2000))
	if d.Stats().PinnedBytes != 0 {
		t.Error("the default is pinned")
	}
	b := check.Ok(unified.AcquirePinned[byte](p, 2000))(t)
	bothSides(t, b)
	if d.Stats().PinnedBytes < 2000 || !b.Pinned() {
		t.Errorf("pinned: %v, %+v", b.Pinned(), d.Stats())
	}
}

// Where the host pool is page-locked every buffer is pinned.
func TestPoolOnAPinnedHostPool(t *testing.T) {
	d := sim.New(64 << 20)
	host := slabOn(t, check.Ok(d.Pinned())(t), slab.Config{})
	p := unified.NewPoolOn(host, slabOn(t, d, slab.Config{}), unified.PoolConfig{})
	a := acquired[byte](t, p, 2000)
	bothSides(t, a)
	if !a.Pinned() || host.Stats().ActiveBytes != 2000 {
		t.Errorf("pinned: %v, %+v", a.Pinned(), host.Stats())
	}
	check.Must(t, a.Release())
	check.Ok(unified.AcquirePinned[byte](p, 2000))(t)
	if s := p.Stats(); s.CacheHits != 1 {
		t.Errorf("%+v", s)
	}
	if u := p.MemoryUsage(); u.Pinned != host.Stats() || u.Host != (slab.Stats{}) {
		t.Errorf("%+v", u)
	}
}

// What cannot work is refused with a sentence, and nothing is taken.
func TestPoolOnErrors(t *testing.T) {
	d := sim.New(64 << 20)
	dev := slabOn(t, d, slab.Config{})
	plain := slabOn(t, heap(t), slab.Config{})
	unknown := slabOn(t, struct{ slab.Allocator }{d}, slab.Config{})
	for want, p := range map[string]*unified.Pool{
		"no slab.Pool for the device side": unified.NewPoolOn(plain, nil, unified.PoolConfig{}),
		"names no device":                  unified.NewPoolOn(plain, unknown, unified.PoolConfig{}),
		"Allocator that names no device":   unified.NewPoolOn(nil, new(slab.Pool), unified.PoolConfig{}),
		"is not page-locked":               unified.NewPoolOn(plain, dev, unified.PoolConfig{}),
	} {
		_, err := unified.AcquirePinned[byte](p, 10)
		check.Wraps(t, err, device.ErrUnavailable)
		if err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	b := acquired[byte](t, unified.NewPoolOn(dev, dev, unified.PoolConfig{}), 10)
	check.Wraps(t, b.Fill(1), device.ErrUnavailable) // the CPU does not reach it
	check.Ok(b.Device())(t)
	if s := dev.Stats(); s.ActiveBytes != 10 {
		t.Errorf("%+v", s)
	}
}

// A slab.Pool for the host side that can never have memory is refused, and nothing panics.
func TestPoolOnAHostPoolOfNoUse(t *testing.T) {
	dev, closed := slabOn(t, sim.New(1<<20), slab.Config{}), slabOn(t, heap(t), slab.Config{})
	check.Must(t, closed.Close())
	for _, host := range []*slab.Pool{new(slab.Pool), closed} {
		p := unified.NewPoolOn(host, dev, unified.PoolConfig{})
		check.Wraps(t, check.Err(unified.Acquire[byte](p, 10)), slab.ErrClosed)
		check.Wraps(t, check.Err(unified.AcquirePinned[byte](p, 10)), slab.ErrClosed)
		p.Clear()
		p.StopHolding()
		if u := p.MemoryUsage(); u != (unified.Usage{}) {
			t.Errorf("%+v", u)
		}
	}
}

// A nil or zero Pool is one without a device.
func TestZeroPool(t *testing.T) {
	for _, p := range []*unified.Pool{nil, {}} {
		check.Wraps(t, check.Err(unified.Acquire[byte](p, 1)), device.ErrUnavailable)
		check.Wraps(t, check.Err(unified.AcquirePinned[byte](p, 1)), device.ErrUnavailable)
		p.Clear()
		p.FreeHeld()
		p.StopHolding()
		if p.Device() != nil || p.Len() != 0 || p.TotalBytes() != 0 || p.Stats() != (unified.PoolStats{}) || p.MemoryUsage() != (unified.Usage{}) {
			t.Errorf("%+v, %+v", p.Stats(), p.MemoryUsage())
		}
	}
}

// Elements without bytes need no memory, however many they are.
func TestElementsWithoutBytes(t *testing.T) {
	b := made[struct{}](t, sim.New(100), math.MaxInt)
	check.Must(t, b.Fill(struct{}{}), b.Zero(), b.SyncToDevice())
	m := check.Ok(b.HostMut())(t)
	own := check.Ok(b.ToSlice())(t)
	if len(m) != math.MaxInt || len(own) != math.MaxInt || len(check.Ok(b.HostRange(5, 10))(t)) != 5 {
		t.Errorf("%d and %d elements", len(m), len(own))
	}
	check.Must(t, b.CopyFrom(own), b.CopyTo(own), b.Free())
}

// releasedOn has a pool keep buffers of 30 MiB on both sides, one of them pinned.
func releasedOn(t *testing.T, p *unified.Pool) {
	t.Helper()
	a, b := acquired[byte](t, p, 30<<20), check.Ok(unified.AcquirePinned[byte](p, 30<<20))(t)
	for _, b := range []*unified.Buffer[byte]{a, b} {
		bothSides(t, b)
	}
	check.Must(t, a.Release(), b.Release())
}

func wantNothing(t *testing.T, d *sim.Device, after string) {
	t.Helper()
	if s := d.Stats(); s.ActiveBytes != 0 || s.PinnedBytes != 0 {
		t.Errorf("after %s the device has %d bytes out and %d pinned", after, s.ActiveBytes, s.PinnedBytes)
	}
}

// Who waits for memory of the slab pool gets that of a buffer when the pool keeps it.
func TestKeptBuffersWakeWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dev := slabOn(t, sim.New(1<<20), slab.Config{Strategy: "direct"})
		p := unified.NewPoolOn(nil, dev, unified.PoolConfig{})
		b := acquired[byte](t, p, 700_000)
		check.Ok(b.DeviceMut())(t)
		got := make(chan error)
		go func() {
			m, err := dev.GetContext(t.Context(), 700_000)
			got <- errors.Join(err, m.Release())
		}()
		synctest.Wait() // it waits
		check.Must(t, b.Release(), <-got)
		runtime.KeepAlive(p) // if it was forgotten, a goroutine outside the bubble would give b back
	})
}

// Clear gives back the memory of both sides, and FreeHeld is Clear. Other tests have small
// buffers of the host out, which keep their slabs.
func TestClearGivesBack(t *testing.T) {
	for name, clear := range map[string]func(*unified.Pool){"Clear": (*unified.Pool).Clear, "FreeHeld": (*unified.Pool).FreeHeld} {
		d := sim.New(100 << 20)
		p := unified.NewPool(d, unified.PoolConfig{})
		releasedOn(t, p)
		clear(p)
		wantNothing(t, d, name)
		if u := p.MemoryUsage(); u.Device.ManagedBytes != 0 || u.Pinned.ManagedBytes != 0 || u.Host.HeldBytes >= 30<<20 || u.Device.UpstreamAllocs == 0 {
			t.Errorf("%s: %+v", name, u)
		}
	}
}

// A Release leaves to the slab pools what they hold.
func TestReleaseLeavesWhatIsHeld(t *testing.T) {
	dev := slabOn(t, sim.New(64<<20), slab.Config{})
	p := unified.NewPoolOn(nil, dev, unified.PoolConfig{})
	check.Must(t, check.Ok(dev.Get(20<<20))(t).Release(), acquired[byte](t, p, 10).Release())
	if s := dev.Stats(); s.HeldBytes < 20<<20 {
		t.Errorf("%+v", s)
	}
	p.StopHolding()
	if s := dev.Stats(); s.HeldBytes != 0 {
		t.Errorf("after StopHolding: %+v", s)
	}
}

// After StopHolding what is released goes to the device at once.
func TestStopHoldingKeepsNothing(t *testing.T) {
	d := sim.New(100 << 20)
	p := unified.NewPool(d, unified.PoolConfig{})
	releasedOn(t, p)
	out := acquired[byte](t, p, 1000)
	p.StopHolding()
	wantNothing(t, d, "StopHolding")
	bothSides(t, out)
	check.Must(t, out.Release())
	wantNothing(t, d, "a Release")
	releasedOn(t, p)
	wantNothing(t, d, "a Release")
	if s := p.Stats(); s.PoolSize != 0 || s.TotalReleased != 5 {
		t.Errorf("%+v", s)
	}
}

// FreeHeld of the package empties the pools of buffers without a Pool, and leaves what
// is out.
func TestFreeHeldOfBuffersWithoutAPool(t *testing.T) {
	d := sim.New(100 << 20)
	a, b, out := made[byte](t, d, 30<<20), pinned(t, d, 30<<20), made[byte](t, d, 10)
	for _, b := range []*unified.Buffer[byte]{a, b} {
		bothSides(t, b)
		check.Must(t, b.Free())
	}
	unified.FreeHeld()
	wantNothing(t, d, "FreeHeld")
	bothSides(t, out)
	unified.FreeHeld()
	wantDevice(t, d, out, 1)
}

// A touchy allocator panics at the next Free.
type touchy struct {
	slab.Allocator
	next bool
}

func (a *touchy) Free(b device.Block) {
	if a.next {
		a.next = false
		panic("touched")
	}
	a.Allocator.Free(b)
}

// A panic of a slab pool passes through and keeps no memory out: not that of the device side, and
// not that of the buffers which come after.
func TestPanicOfASlabPoolLosesNoBuffer(t *testing.T) {
	up := &touchy{Allocator: heap(t)}
	host, dev := slabOn(t, up, slab.Config{Strategy: "direct"}), slabOn(t, sim.New(1<<20), slab.Config{})
	p := unified.NewPoolOn(host, dev, unified.PoolConfig{})
	out := []*unified.Buffer[byte]{}
	for range 3 {
		b := acquired[byte](t, p, 100)
		bothSides(t, b)
		out = append(out, b)
	}
	for _, b := range out {
		check.Must(t, b.Release())
	}
	up.next = true
	check.Panics(t, "Clear", p.Clear)
	if u := p.MemoryUsage(); u.Host.ActiveBytes != 0 || u.Device.ActiveBytes != 0 || p.Len() != 0 {
		t.Errorf("%d buffers are kept, %+v", p.Len(), u)
	}
}

// A forgotten Pool frees what it keeps, pinned memory too, and the slab pools know
// nothing of it any more. What is out is freed when it is released. What the slab pools hold
// is up to them, then, too.
func TestForgottenPoolFreesWhatItKeeps(t *testing.T) {
	d := sim.New(100 << 20)
	host := slabOn(t, check.Ok(d.Pinned())(t), slab.Config{})
	dev := slabOn(t, d, slab.Config{})
	out := func() *unified.Buffer[byte] {
		p := unified.NewPoolOn(host, dev, unified.PoolConfig{})
		releasedOn(t, p)
		return acquired[byte](t, p, 100)
	}()
	bothSides(t, out)
	check.Must(t, check.Ok(dev.Get(20<<20))(t).Release())
	active := func(n int64) bool { return host.Stats().ActiveBytes == n && dev.Stats().ActiveBytes == n }
	for range 200 {
		if active(100) {
			break
		}
		runtime.GC()
		runtime.Gosched()
	}
	check.Must(t, out.Release())
	if !active(0) || dev.Stats().HeldBytes < 20<<20 {
		t.Errorf("host %+v, device %+v", host.Stats(), dev.Stats())
	}
}

// What a buffer has is its own, on both sides: a Put of it gives nothing back.
func TestPutRefusesWhatABufferHas(t *testing.T) {
	for _, name := range []string{"heap", "mmap"} {
		d := check.Ok(device.Open(name))(t)
		host, dev := slabOn(t, d, slab.Config{}), slabOn(t, d, slab.Config{})
		b := acquired[byte](t, unified.NewPoolOn(host, dev, unified.PoolConfig{MaxBuffers: -1}), 5000)
		check.Must(t, b.Fill(1))
		check.Wraps(t, host.Put(check.Ok(b.Host())(t)), slab.ErrForeign)
		check.Wraps(t, dev.Put(device.Bytes(check.Ok(b.Device())(t))), slab.ErrForeign)
		for _, p := range []*slab.Pool{host, dev} {
			if s := p.Stats(); s.ForeignPuts != 1 || s.ActiveBlocks != 1 {
				t.Errorf("%s: %+v", name, s)
			}
		}
		wantHost(t, b, 1)
		check.Must(t, b.Release())
		if s := host.Stats(); s.ActiveBlocks != 0 || s.DoubleReleases != 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
