package unified_test

import (
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
)

// What PyDotCompute documents of its MemoryPool, and does not do.

func acquired[T any](t testing.TB, p *unified.Pool, shape ...int) *unified.Buffer[T] {
	t.Helper()
	b, err := unified.Acquire[T](p, shape...)
	must(t, err)
	return b
}

func simPool(c unified.PoolConfig) (*device.Sim, *unified.Pool) {
	d := device.NewSim(64 << 20)
	return d, unified.NewPool(d, c)
}

// The first acquisition creates a buffer, the second gets the same memory.
func TestPoolReuses(t *testing.T) {
	_, p := simPool(unified.PoolConfig{})
	a := acquired[float32](t, p, 1000)
	m, err := a.HostMut()
	must(t, err)
	must(t, a.Release())
	b := acquired[float32](t, p, 1000)
	again, err := b.HostMut()
	must(t, err)
	if unsafe.SliceData(again) != unsafe.SliceData(m) {
		t.Error("the second buffer has other memory")
	}
	want := unified.PoolStats{PoolSize: 0, TotalAcquired: 2, TotalReleased: 1, CacheHits: 1, CacheMisses: 1}
	if s := p.Stats(); s != want {
		t.Errorf("%+v, want %+v", s, want)
	}
}

// Only the same shape, element type and kind of host memory will do.
func TestPoolMatchesExactly(t *testing.T) {
	_, p := simPool(unified.PoolConfig{})
	must(t, acquired[float32](t, p, 10, 20).Release())
	acquired[float32](t, p, 20, 10)
	acquired[float32](t, p, 200)
	acquired[float32](t, p, 10, 20, 1)
	acquired[int32](t, p, 10, 20)
	b, err := unified.AcquirePinned[float32](p, 10, 20)
	must(t, err)
	if !b.Pinned() {
		t.Error("not pinned")
	}
	if s := p.Stats(); s.CacheHits != 0 || s.PoolSize != 1 {
		t.Errorf("%+v", s)
	}
	c := acquired[float32](t, p, 10, 20)
	if s := p.Stats(); s.CacheHits != 1 || !slices.Equal(c.Shape(), []int{10, 20}) {
		t.Errorf("%+v, shape %v", s, c.Shape())
	}
	must(t, b.Release())
	if _, err = unified.AcquirePinned[float32](p, 10, 20); err != nil || p.Stats().CacheHits != 2 {
		t.Errorf("%v, %+v", err, p.Stats())
	}
}

// A named type is not the type it is made of.
func TestPoolTellsNamedTypesApart(t *testing.T) {
	type celsius float32
	_, p := simPool(unified.PoolConfig{})
	must(t, acquired[celsius](t, p, 1).Release())
	acquired[float32](t, p, 1)
	if s := p.Stats(); s.CacheHits != 0 {
		t.Errorf("%+v", s)
	}
}

// 100 buffers are kept, as a rule; the one that was released first goes.
func TestPoolKeepsAHundred(t *testing.T) {
	d, p := simPool(unified.PoolConfig{})
	var all []*unified.Buffer[byte]
	for i := range 101 {
		b := acquired[byte](t, p, i+1)
		must(t, b.SyncToDevice())
		all = append(all, b)
	}
	for _, b := range all {
		must(t, b.Release())
	}
	if p.Len() != 100 || p.TotalBytes() != 101*102/2-1 {
		t.Errorf("%d buffers of %d bytes", p.Len(), p.TotalBytes())
	}
	acquired[byte](t, p, 1)
	acquired[byte](t, p, 2)
	if s := p.Stats(); s.CacheHits != 1 || s.CacheMisses != 102 {
		t.Errorf("%+v", s)
	}
	must(t, d.Close())
}

// Larger buffers than MaxBufferBytes are not pooled; just as large ones are.
func TestPoolDoesNotKeepTheLarge(t *testing.T) {
	_, p := simPool(unified.PoolConfig{MaxBufferBytes: 1000})
	must(t, acquired[byte](t, p, 1001).Release())
	if p.Len() != 0 {
		t.Errorf("%d buffers", p.Len())
	}
	must(t, acquired[byte](t, p, 1000).Release())
	if p.Len() != 1 || p.Stats().TotalReleased != 2 {
		t.Errorf("%+v", p.Stats())
	}
	_, p = simPool(unified.PoolConfig{}) // 1 GiB; nothing is allocated before an access
	must(t, acquired[byte](t, p, 1<<30).Release())
	must(t, acquired[byte](t, p, 1<<30+1).Release())
	if p.Len() != 1 || p.TotalBytes() != 1<<30 {
		t.Errorf("%d buffers of %d bytes", p.Len(), p.TotalBytes())
	}
}

func TestPoolThatKeepsNothing(t *testing.T) {
	for _, c := range []unified.PoolConfig{{MaxBuffers: -1}, {MaxBufferBytes: -1}} {
		_, p := simPool(c)
		must(t, acquired[byte](t, p, 10).Release())
		if p.Len() != 0 {
			t.Errorf("%+v: %d buffers", c, p.Len())
		}
	}
}

// Buffers are not cleared: contents and state are those of the release.
func TestPoolDoesNotClear(t *testing.T) {
	d, p := simPool(unified.PoolConfig{})
	a := acquired[byte](t, p, 3)
	must(t, a.CopyFrom([]byte{1, 2, 3}))
	writeDevice(t, d, a, 4, 5, 6)
	must(t, a.Release())
	b := acquired[byte](t, p, 3)
	wantState(t, b, unified.DeviceDirty)
	wantHost(t, b, 4, 5, 6)
	must(t, b.Release())
	before := d.Stats()
	c := acquired[byte](t, p, 3)
	must(t, c.CopyFrom([]byte{7, 8, 9}))
	wantHost(t, c, 7, 8, 9)
	if after := d.Stats(); after.CopyCalls != before.CopyCalls || after.AllocCalls != before.AllocCalls {
		t.Error("a buffer that is overwritten was copied first")
	}
}

// A handle ends with its release; the next owner's is not touched.
func TestPoolReleaseOnce(t *testing.T) {
	_, p := simPool(unified.PoolConfig{})
	a := acquired[byte](t, p, 3)
	v, err := a.View(0, 2)
	must(t, err)
	wantErr(t, v.Release(), unified.ErrView)
	must(t, a.Release())
	b := acquired[byte](t, p, 3)
	must(t, b.Fill(1))
	wantErr(t, a.Release(), unified.ErrReleased)
	wantErr(t, a.Release(), slab.ErrReleased)
	wantErr(t, a.Free(), unified.ErrReleased)
	wantErr(t, a.Fill(2), unified.ErrReleased)
	wantErr(t, v.Fill(2), unified.ErrReleased)
	wantState(t, a, unified.Uninitialized)
	wantHost(t, b, 1, 1, 1)
	if s := p.Stats(); s.TotalReleased != 1 || s.PoolSize != 0 {
		t.Errorf("%+v", s)
	}
}

// Free of an acquired buffer keeps it from the pool; Release of one without a
// pool is Free.
func TestPoolFreeAndRelease(t *testing.T) {
	d, p := simPool(unified.PoolConfig{})
	a := acquired[byte](t, p, 3)
	must(t, a.Free())
	if s := p.Stats(); s.TotalReleased != 0 || s.PoolSize != 0 {
		t.Errorf("%+v", s)
	}
	b := made[byte](t, d, 3)
	must(t, b.Release())
	wantErr(t, b.Release(), unified.ErrReleased)
}

// Clear frees what is kept, and nothing that is out.
func TestPoolClear(t *testing.T) {
	d, p := simPool(unified.PoolConfig{})
	a := acquired[byte](t, p, 40<<20)
	_, err := a.Device()
	must(t, err)
	must(t, a.Release())
	out := acquired[byte](t, p, 10)
	must(t, out.Fill(2))
	p.Clear()
	if p.Len() != 0 || p.TotalBytes() != 0 || p.Stats().TotalReleased != 1 {
		t.Errorf("%d buffers of %d bytes, %+v", p.Len(), p.TotalBytes(), p.Stats())
	}
	b := made[byte](t, d, 50<<20) // there is no room for both
	_, err = b.Device()
	must(t, err)
	wantHost(t, out, slices.Repeat([]byte{2}, 10)...)
	must(t, out.Release())
	if p.Len() != 1 {
		t.Errorf("%d buffers", p.Len())
	}
}

// What a pool keeps makes room for its buffers that are out.
func TestPoolMakesRoom(t *testing.T) {
	_, p := simPool(unified.PoolConfig{})
	a := acquired[byte](t, p, 40<<20)
	_, err := a.Device()
	must(t, err)
	must(t, a.Release())
	b := acquired[byte](t, p, 50<<20)
	_, err = b.Device()
	must(t, err)
	if p.Len() != 0 {
		t.Errorf("%d buffers are kept", p.Len())
	}
}

func TestPoolErrors(t *testing.T) {
	_, p := simPool(unified.PoolConfig{})
	for shape, want := range map[*[]int]error{{-1}: device.ErrSize, {math.MaxInt, 2}: device.ErrSize} {
		_, err := unified.Acquire[byte](p, *shape...)
		wantErr(t, err, want)
	}
	_, err := unified.Acquire[string](p, 1)
	wantErr(t, err, unified.ErrType)
	_, err = unified.Acquire[byte](unified.NewPool(nil, unified.PoolConfig{}), 1)
	wantErr(t, err, device.ErrUnavailable)
	if s := p.Stats(); s != (unified.PoolStats{}) {
		t.Errorf("failures count: %+v", s)
	}
}

// The pool of the process is one, and works.
func TestPoolDefault(t *testing.T) {
	p := unified.Default()
	if p != unified.Default() {
		t.Error("two default pools")
	}
	b := acquired[float64](t, p, 1024)
	must(t, b.Fill(1))
	_, err := b.Device()
	must(t, err)
	must(t, b.Release())
	if p.Len() == 0 {
		t.Error("nothing is kept")
	}
	p.Clear()
}

// The pool is thread-safe: no buffer has two owners.
func TestPoolIsSafeForConcurrentUse(t *testing.T) {
	d, p := simPool(unified.PoolConfig{MaxBuffers: 5})
	var group sync.WaitGroup
	for id := range byte(8) {
		group.Go(func() {
			for i := range 200 {
				b, err := unified.Acquire[byte](p, 100+i%3)
				if err != nil {
					t.Error(err)
					return
				}
				if err := errors.Join(b.Fill(id), b.SyncToDevice()); err != nil {
					t.Error(err)
				}
				if m, err := b.ToSlice(); err != nil || m[0] != id || m[99] != id {
					t.Errorf("somebody else wrote: %v, %v", m[:1], err)
				}
				if i%50 == 0 {
					p.Clear()
				}
				if err := b.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	s := p.Stats()
	if s.TotalAcquired != 1600 || s.TotalReleased != 1600 || s.CacheHits+s.CacheMisses != 1600 || p.Len() > 5 {
		t.Errorf("%+v", s)
	}
	must(t, d.Close())
}
