package unified_test

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/unified"
)

// What PyDotCompute documents of its MemoryPool, and does not do.

// The first acquisition creates a buffer, the second gets the same memory.
func TestPoolReuses(t *testing.T) {
	_, p := simPool(unified.PoolConfig{})
	a := acquired[float32](t, p, 1000)
	m := check.Ok(a.HostMut())(t)
	check.Must(t, a.Release())
	b := acquired[float32](t, p, 1000)
	again := check.Ok(b.HostMut())(t)
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
	check.Must(t, acquired[float32](t, p, 10, 20).Release())
	acquired[float32](t, p, 20, 10)
	acquired[float32](t, p, 200)
	acquired[float32](t, p, 10, 20, 1)
	acquired[int32](t, p, 10, 20)
	b := check.Ok(unified.AcquirePinned[float32](p, 10, 20))(t)
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
	check.Must(t, b.Release())
	if _, err := unified.AcquirePinned[float32](p, 10, 20); err != nil || p.Stats().CacheHits != 2 {
		t.Errorf("%v, %+v", err, p.Stats())
	}
}

// A named type is not the type it is made of.
func TestPoolTellsNamedTypesApart(t *testing.T) {
	type celsius float32
	_, p := simPool(unified.PoolConfig{})
	check.Must(t, acquired[celsius](t, p, 1).Release())
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
		check.Must(t, b.SyncToDevice())
		all = append(all, b)
	}
	for _, b := range all {
		check.Must(t, b.Release())
	}
	if p.Len() != 100 || p.TotalBytes() != 101*102/2-1 {
		t.Errorf("%d buffers of %d bytes", p.Len(), p.TotalBytes())
	}
	acquired[byte](t, p, 1)
	acquired[byte](t, p, 2)
	if s := p.Stats(); s.CacheHits != 1 || s.CacheMisses != 102 {
		t.Errorf("%+v", s)
	}
	check.Must(t, d.Close())
}

// Larger buffers than MaxBufferBytes are not pooled; just as large ones are.
func TestPoolDoesNotKeepTheLarge(t *testing.T) {
	_, p := simPool(unified.PoolConfig{MaxBufferBytes: 1000})
	check.Must(t, acquired[byte](t, p, 1001).Release())
	if p.Len() != 0 {
		t.Errorf("%d buffers", p.Len())
	}
	check.Must(t, acquired[byte](t, p, 1000).Release())
	if p.Len() != 1 || p.Stats().TotalReleased != 2 {
		t.Errorf("%+v", p.Stats())
	}
	_, p = simPool(unified.PoolConfig{}) // 1 GiB; nothing is allocated before an access
	check.Must(t, acquired[byte](t, p, 1<<30).Release(), acquired[byte](t, p, 1<<30+1).Release())
	if p.Len() != 1 || p.TotalBytes() != 1<<30 {
		t.Errorf("%d buffers of %d bytes", p.Len(), p.TotalBytes())
	}
}

func TestPoolThatKeepsNothing(t *testing.T) {
	for _, c := range []unified.PoolConfig{{MaxBuffers: -1}, {MaxBufferBytes: -1}} {
		_, p := simPool(c)
		check.Must(t, acquired[byte](t, p, 10).Release())
		if p.Len() != 0 {
			t.Errorf("%+v: %d buffers", c, p.Len())
		}
	}
}

// Buffers are not cleared: contents and state are those of the release.
func TestPoolDoesNotClear(t *testing.T) {
	d, p := simPool(unified.PoolConfig{})
	a := acquired[byte](t, p, 3)
	check.Must(t, a.CopyFrom([]byte{1, 2, 3}))
	writeDevice(t, d, a, 4, 5, 6)
	check.Must(t, a.Release())
	b := acquired[byte](t, p, 3)
	wantState(t, b, unified.DeviceDirty)
	wantHost(t, b, 4, 5, 6)
	check.Must(t, b.Release())
	before := d.Stats()
	c := acquired[byte](t, p, 3)
	check.Must(t, c.CopyFrom([]byte{7, 8, 9}))
	wantHost(t, c, 7, 8, 9)
	if after := d.Stats(); after.CopyCalls != before.CopyCalls || after.AllocCalls != before.AllocCalls {
		t.Error("a buffer that is overwritten was copied first")
	}
}

// A handle ends with its release; the next owner's is not touched.
func TestPoolReleaseOnce(t *testing.T) {
	_, p := simPool(unified.PoolConfig{})
	a := acquired[byte](t, p, 3)
	v := check.Ok(a.View(0, 2))(t)
	check.Wraps(t, v.Release(), unified.ErrView)
	check.Must(t, a.Release())
	b := acquired[byte](t, p, 3)
	check.Must(t, b.Fill(1))
	check.Wraps(t, a.Release(), unified.ErrReleased)
	check.Wraps(t, a.Release(), slab.ErrReleased)
	check.Wraps(t, a.Free(), unified.ErrReleased)
	check.Wraps(t, a.Fill(2), unified.ErrReleased)
	check.Wraps(t, v.Fill(2), unified.ErrReleased)
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
	check.Must(t, a.Free())
	if s := p.Stats(); s.TotalReleased != 0 || s.PoolSize != 0 {
		t.Errorf("%+v", s)
	}
	b := made[byte](t, d, 3)
	check.Must(t, b.Release())
	check.Wraps(t, b.Release(), unified.ErrReleased)
}

// Clear frees what is kept, and nothing that is out.
func TestPoolClear(t *testing.T) {
	d, p := simPool(unified.PoolConfig{})
	a := acquired[byte](t, p, 40<<20)
	check.Ok(a.Device())(t)
	check.Must(t, a.Release())
	out := acquired[byte](t, p, 10)
	check.Must(t, out.Fill(2))
	p.Clear()
	if p.Len() != 0 || p.TotalBytes() != 0 || p.Stats().TotalReleased != 1 {
		t.Errorf("%d buffers of %d bytes, %+v", p.Len(), p.TotalBytes(), p.Stats())
	}
	b := made[byte](t, d, 50<<20) // there is no room for both
	check.Ok(b.Device())(t)
	wantHost(t, out, slices.Repeat([]byte{2}, 10)...)
	check.Must(t, out.Release())
	if p.Len() != 1 {
		t.Errorf("%d buffers", p.Len())
	}
}

// What a pool keeps makes room for its buffers that are out.
func TestPoolMakesRoom(t *testing.T) {
	_, p := simPool(unified.PoolConfig{})
	a := acquired[byte](t, p, 40<<20)
	check.Ok(a.Device())(t)
	check.Must(t, a.Release())
	b := acquired[byte](t, p, 50<<20)
	check.Ok(b.Device())(t)
	if p.Len() != 0 {
		t.Errorf("%d buffers are kept", p.Len())
	}
}

func TestPoolErrors(t *testing.T) {
	_, p := simPool(unified.PoolConfig{})
	check.Wraps(t, check.Err(unified.Acquire[byte](p, -1)), device.ErrSize)
	check.Wraps(t, check.Err(unified.Acquire[byte](p, math.MaxInt, 2)), device.ErrSize)
	check.Wraps(t, check.Err(unified.Acquire[string](p, 1)), unified.ErrType)
	check.Wraps(t, check.Err(unified.Acquire[byte](unified.NewPool(nil, unified.PoolConfig{}), 1)), device.ErrUnavailable)
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
	check.Must(t, b.Fill(1))
	check.Ok(b.Device())(t)
	check.Must(t, b.Release())
	if p.Len() == 0 {
		t.Error("nothing is kept")
	}
	p.Clear()
}
