package unified

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/device/sim"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// eventually collects garbage until something is true.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 200 {
		if is() {
			return
		}
		runtime.GC()
		runtime.Gosched()
	}
	t.Errorf("never: %s", what)
}

// comesBack collects garbage until the device memory of all buffers is back in
// the pool that keep holds.
func comesBack(t *testing.T, keep *Buffer[byte]) {
	t.Helper()
	eventually(t, "device memory comes back", func() bool { return keep.a.mem.device.Stats().ActiveBlocks == 0 })
	runtime.KeepAlive(keep)
}

func known(d device.Device) bool {
	memories.Lock()
	defer memories.Unlock()
	return memories.of[d] != nil
}

// All buffers of a device draw on the same pools.
func TestBuffersShareMemory(t *testing.T) {
	d := sim.New(1 << 20)
	a := check.Ok(New[byte](d, 1000))(t)
	b := check.Ok(New[int32](d, 10))(t)
	if a.a.mem != b.a.mem {
		t.Error("two buffers of a device have two memories")
	}
	check.Must(t, a.SyncToDevice())
	check.Ok(a.Device())(t)
	check.Must(t, a.Free())
	if s := b.a.mem.device.Stats(); s.ActiveBlocks != 0 || s.HeldBytes == 0 {
		t.Errorf("%+v", s)
	}
	runtime.KeepAlive(b)
}

// forget makes buffers of all kinds, uses both sides, and forgets them.
func forget(t *testing.T, d device.Device, n int) {
	t.Helper()
	b := check.Ok(New[byte](d, n))(t)
	check.Must(t, b.Fill(1))
	check.Ok(b.DeviceMut())(t)
}

// Forgotten buffers give the memory of both sides back, whatever their size. On mmap the
// pool does not find the small blocks by itself.
func TestForgottenBuffers(t *testing.T) {
	for _, d := range []device.Device{sim.New(64 << 20), check.Ok(device.Open("mmap"))(t)} {
		keep := check.Ok(New[byte](d, 1))(t)
		hosts := check.Ok(hosts.get())(t)
		for _, n := range []int{1, 100, 32 << 10, 40 << 10, 1 << 20} {
			for range 20 {
				forget(t, d, n)
			}
		}
		comesBack(t, keep)
		eventually(t, "host memory comes back", func() bool { return hosts.Stats().ActiveBlocks == 0 })
	}
}

// What was freed is not released again when the collector finds the array.
func TestFreedBuffersAreReleasedOnce(t *testing.T) {
	d := sim.New(64 << 20)
	keep := check.Ok(New[byte](d, 1))(t)
	var found atomic.Int64
	const n = 100
	for range n {
		b := check.Ok(New[byte](d, 1000))(t)
		check.Ok(b.DeviceMut())(t)
		check.Must(t, b.Free())
		runtime.AddCleanup(b.a, func(found *atomic.Int64) { found.Add(1) }, &found)
	}
	eventually(t, "the arrays are found", func() bool { return found.Load() == n })
	if s := keep.a.mem.device.Stats(); s.DoubleReleases != 0 || s.ActiveBlocks != 0 {
		t.Errorf("%+v", s)
	}
	runtime.KeepAlive(keep)
}

// A stuck stream never gets done with its work.
type stuck struct {
	device.Stream
	work *check.Stuck
}

func (s stuck) Record() (device.Event, error) { return s.work, nil }

// Cleanups of the program run while the memory of forgotten buffers waits for streams, of as many
// as the runtime could have goroutines for cleanups.
func TestForgottenBuffersKeepNoCleanupWaiting(t *testing.T) {
	n := runtime.GOMAXPROCS(0)
	s := stuck{work: check.NewStuck(n)}
	defer s.work.End()
	dev := check.Ok(slab.Open(sim.New(1<<20), slab.Config{}))(t)
	dev.StopHolding() // a Release waits for streams
	p := NewPoolOn(nil, dev, PoolConfig{})
	for range n {
		check.Ok(check.Ok(Acquire[byte](p, 1000))(t).DeviceOverwriteOn(s))(t)
	}
	eventually(t, "the memory waits", func() bool { return len(s.work.Waiting) == n })
	ran := make(chan struct{}, 1)
	runtime.AddCleanup(new([64]byte), func(ran chan struct{}) { ran <- struct{}{} }, ran)
	eventually(t, "another cleanup runs", func() bool { return len(ran) == 1 })
	runtime.KeepAlive(p)
}

// Those that a stream uses come back when it has done with them.
func TestForgottenWhileInUse(t *testing.T) {
	d := sim.New(64 << 20)
	d.Late(1)
	keep := check.Ok(New[byte](d, 1))(t)
	s := check.Ok(d.NewStream())(t)
	for range 100 {
		b := check.Ok(New[byte](d, 1000))(t)
		check.Must(t, b.Fill(1), b.SyncToDeviceOn(s))
	}
	runtime.GC()
	check.Must(t, s.Sync())
	comesBack(t, keep)
	if n := d.Stats().UsedAfterFree; n != 0 {
		t.Errorf("%d pieces of work came to freed memory", n)
	}
	runtime.KeepAlive(keep)
}

// A device whose buffers are gone keeps what its pools hold for a minute, whatever the
// collector does; then it is let go of.
func TestDevicesAreNotKept(t *testing.T) {
	d := sim.New(64 << 20)
	forget(t, d, 1<<20)
	for range 5 {
		runtime.GC()
	}
	if !known(d) || d.Stats().ActiveBytes == 0 {
		t.Fatal("collections alone took the device's memory")
	}
	memories.Lock()
	memories.of[d].used = time.Now().Add(-idleMemory)
	memories.Unlock()
	eventually(t, "the device is let go of", func() bool { return !known(d) })
	eventually(t, "its memory is back", func() bool { return d.Stats().ActiveBytes == 0 })
}

// A buffer keeps the pools of its device through collections.
func TestBuffersKeepTheirMemory(t *testing.T) {
	d := sim.New(64 << 20)
	b := check.Ok(New[byte](d, 1000))(t)
	for range 10 {
		runtime.GC()
	}
	c := check.Ok(New[byte](d, 1000))(t)
	if b.a.mem != c.a.mem {
		t.Error("a second memory for one device")
	}
	runtime.KeepAlive(b)
}

// A device that was closed goes when another one comes.
func TestClosedDevicesAreNotKept(t *testing.T) {
	d := sim.New(64 << 20)
	b := check.Ok(New[byte](d, 1<<20))(t)
	check.Ok(b.Device())(t)
	check.Must(t, b.Free())
	if d.Stats().ActiveBytes == 0 {
		t.Fatal("nothing is held")
	}
	check.Must(t, d.Close())
	check.Ok(New[byte](sim.New(1), 1))(t)
	if known(d) || d.Stats().ActiveBytes != 0 {
		t.Errorf("known: %v, %d bytes held", known(d), d.Stats().ActiveBytes)
	}
}

// To look for devices that were closed takes no memory of others.
func TestOpenDevicesAreLeftAlone(t *testing.T) {
	d := sim.New(64 << 20)
	b := check.Ok(New[byte](d, 10))(t)
	check.Ok(New[byte](sim.New(1), 1))(t)
	if s := d.Stats(); s.ActiveBytes != 0 || !known(d) {
		t.Errorf("known: %v, %d bytes are out", known(d), s.ActiveBytes)
	}
	runtime.KeepAlive(b)
}

// Collections look at a memory as long as there is one.
func TestCollectionsForgetAnEntry(t *testing.T) {
	m := &memory{}
	e := &entry{dev: sim.New(1), weak: weak.Make(m), strong: m, used: time.Now()}
	if !e.collected() {
		t.Error("no collection looks at a memory that is used")
	}
	runtime.KeepAlive(m)
	if (&entry{dev: sim.New(1)}).collected() {
		t.Error("collections go on to look at a memory that is gone")
	}
}

// FreeHeld of the package gives back what the host's pool holds.
func TestFreeHeldOfTheHost(t *testing.T) {
	memories.Lock()
	of := memories.of
	memories.of = map[device.Device]*entry{} // or a device's memory would give it back, too
	memories.Unlock()
	defer func() { memories.Lock(); memories.of = of; memories.Unlock() }()
	h := check.Ok(hosts.get())(t)
	check.Must(t, check.Ok(h.Get(30<<20))(t).Release())
	if FreeHeld(); h.Stats().HeldBytes >= 30<<20 {
		t.Errorf("%d bytes are held", h.Stats().HeldBytes)
	}
}

// Devices that cannot be compared have pools of their own for each buffer.
func TestDeviceThatIsNotComparable(t *testing.T) {
	d := odd{Device: sim.New(1 << 20)}
	b := check.Ok(New[byte](d, 10))(t)
	check.Must(t, b.Fill(1), b.SyncToDevice(), b.Free())
}

type odd struct {
	device.Device
	_ []int
}

// A forgotten pool takes its buffers along.
func TestForgottenPool(t *testing.T) {
	d := sim.New(64 << 20)
	keep := check.Ok(New[byte](d, 1))(t)
	func() {
		p := NewPool(d, PoolConfig{})
		for range 3 {
			b := check.Ok(Acquire[byte](p, 1000))(t)
			check.Ok(b.Device())(t)
			check.Must(t, b.Release())
		}
	}()
	comesBack(t, keep)
}

// The slab pools that a Pool draws on do not keep it when it is forgotten.
func TestForgottenPoolIsNotKept(t *testing.T) {
	dev := check.Ok(slab.Open(sim.New(1<<20), slab.Config{}))(t)
	gone := func() weak.Pointer[pool] {
		p := NewPoolOn(nil, dev, PoolConfig{})
		check.Must(t, check.Ok(Acquire[byte](p, 10))(t).Free())
		return weak.Make(p.pool)
	}()
	eventually(t, "the pool is gone", func() bool { return gone.Value() == nil })
	check.Must(t, dev.Close())
}

// Pinned memory whose slices were seen is not used again when its buffer is
// forgotten: the collector does not know whether a slice of it remains.
func TestForgottenPinnedMemoryIsNotReused(t *testing.T) {
	d := sim.New(64 << 20)
	for _, n := range []int{100, 40 << 10} {
		seen := func() []byte {
			b := check.Ok(NewPinned[byte](d, n))(t)
			check.Must(t, b.Fill(1))
			return check.Ok(b.Host())(t)
		}()
		for range 5 {
			runtime.GC()
			b := check.Ok(NewPinned[byte](d, n))(t)
			check.Must(t, b.Fill(2), b.Free())
		}
		for i, v := range seen {
			if v != 1 {
				t.Fatalf("element %d of %d was written by another owner", i, n)
			}
		}
	}
}

// Where one side gets no memory the other one keeps none that it did not have before.
func TestASideAloneKeepsNothing(t *testing.T) {
	heap, err := device.Open("heap")
	check.Must(t, err)
	p := NewPool(heap, PoolConfig{})
	b := check.Ok(Acquire[byte](p, 100))(t)
	b.a.mu.Lock()
	defer func() { b.a.mu.Unlock(); check.Must(t, b.Free()) }()
	for _, had := range []bool{false, true} {
		if had {
			check.Must(t, b.a.provide(onDevice, (*slab.Pool).Get))
		}
		err := b.a.provideBoth(func(p *slab.Pool, size int) (slab.PooledBuffer, error) {
			if p != b.a.mem.device {
				return slab.PooledBuffer{}, errTest
			}
			return p.Get(size)
		})
		if has := b.a.sides[onDevice].has; err != errTest || has != had {
			t.Errorf("had memory: %t, has memory: %t, %v", had, has, err)
		}
	}
}

// One call of a pool at a time waits with memory in hand.
func TestATurnIsOfOneCall(t *testing.T) {
	p := newPool(nil, nil, PoolConfig{})
	p.turn <- struct{}{}
	select {
	case p.turn <- struct{}{}:
		t.Error("two calls have the turn")
	default:
	}
}

// A pool finds all buffers of a kind that it keeps, and forgets the kind with the last of them.
func TestPoolKeepsSeveralOfAKind(t *testing.T) {
	p := NewPool(sim.New(1<<20), PoolConfig{MaxBuffers: 3})
	acquire := func(n int) (list []*Buffer[byte]) {
		for range n {
			list = append(list, check.Ok(Acquire[byte](p, 10))(t))
		}
		return list
	}
	for range 2 {
		for _, b := range acquire(4) { // one more than it keeps
			check.Must(t, b.Release())
		}
		if p.Len() != 3 || p.TotalBytes() != 30 {
			t.Errorf("%d buffers of %d bytes are kept", p.Len(), p.TotalBytes())
		}
		before := p.Stats()
		list := acquire(3)
		if s := p.Stats(); s.CacheHits-before.CacheHits != 3 || s.PoolSize != 0 || len(p.pool.like) != 0 || p.TotalBytes() != 0 {
			t.Errorf("%+v, %d kinds", s, len(p.pool.like))
		}
		for _, b := range list {
			check.Must(t, b.Free())
		}
	}
}

// The open slab pools are listed once each, whatever sides they serve.
func TestOpenSlabPoolsAreListedOnce(t *testing.T) {
	dev, h, locked := slab.MustOpen(""), slab.MustOpen(""), slab.MustOpen("")
	closed, host, pinned := &source{}, &source{pool: h}, &source{pool: locked}
	for i, c := range []struct {
		host, pinned *source
		want         []*slab.Pool
	}{
		{closed, &source{}, []*slab.Pool{dev}},
		{host, closed, []*slab.Pool{dev, h}},
		{host, host, []*slab.Pool{dev, h}},
		{host, pinned, []*slab.Pool{dev, h, locked}},
		{closed, pinned, []*slab.Pool{dev, locked}},
		{&source{pool: dev}, closed, []*slab.Pool{dev}},
	} {
		m := &memory{device: dev, host: c.host, pinned: c.pinned}
		if got := m.pools(); !slices.Equal(got, c.want) {
			t.Errorf("row %d: %d pools, not %d", i, len(got), len(c.want))
		}
	}
	check.Must(t, dev.Close(), h.Close(), locked.Close())
}

// A device that does not say what a call costs has it taken for 4 KiB, one that says less than nothing for 0.
func TestCallBytes(t *testing.T) {
	for says, want := range map[int]int{0: 4096, 100: 100, -1: 0} {
		if n := (&memory{dev: calling{bytes: says}}).callBytes(); n != want {
			t.Errorf("%d for a device that says %d", n, says)
		}
	}
}

// A calling device says what a call costs.
type calling struct {
	device.Device
	bytes int
}

func (c calling) Traits() device.Traits { return device.Traits{CallBytes: c.bytes} }
