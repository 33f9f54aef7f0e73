package slab

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
)

// Forgotten off-heap memory does not drive the collector; the pool does.
func TestPressureBoundsForgottenOffHeapMemory(t *testing.T) {
	p := openPool(t, "mmap", Config{Strategy: "exact", GCTrigger: 8 << 20})
	for range 400 {
		forgetOne(t, p, 1<<20, func(b PooledBuffer) { b.With(func(m []byte) { m[0] = 1 }) })
	}
	if s := p.Stats(); s.PeakManagedBytes > 20<<20 {
		t.Errorf("400 MiB forgotten, peak %d", s.PeakManagedBytes)
	}
}

// Memory that grows and is released in turns is collected for a few times only,
// as each collection doubles what the next one waits for; and what is forgotten
// after that is noticed all the same.
func TestPressureOfWhatIsReleasedFades(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	collections := func() (n uint32) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.NumGC
	}
	p := openPool(t, "mmap", Config{Strategy: "slab", GCTrigger: 1 << 20})
	var live [16]PooledBuffer
	swing := func() uint32 {
		before := collections()
		for range 50 {
			for i := range live {
				live[i] = mustGet(t, p, 1<<20)
			}
			releaseAll(t, live[:])
		}
		return collections() - before
	}
	if n := swing(); n < 1 || n > 5 {
		t.Errorf("%d collections", n)
	}
	if n := swing(); n != 0 {
		t.Errorf("%d collections more", n)
	}
	before := collections()
	for range 200 {
		forgetOne(t, p, 1<<20, nil)
	}
	if n := collections() - before; n < 25 {
		t.Errorf("%d collections for 200 MiB forgotten", n)
	}
	if s := p.Stats(); s.PeakManagedBytes > 48<<20 {
		t.Errorf("200 MiB forgotten, peak %d", s.PeakManagedBytes)
	}
}

// The largest trigger is never, whatever was in use before.
func TestPressureOfNothing(t *testing.T) {
	p := openPool(t, "mmap", Config{Strategy: "exact", GCTrigger: math.MaxInt64, MaxBytes: 8 << 20})
	out := []PooledBuffer{mustGet(t, p, 4<<20)}
	if _, err := p.Get(7 << 20); err == nil { // which collects, and so knows what was in use
		t.Fatal("there was room")
	}
	before := p.Stats().Collections
	for i := range 20 {
		out = append(out, mustGet(t, p, 8192+4096*i))
	}
	if n := p.Stats().Collections - before; n > 0 {
		t.Errorf("%d collections", n)
	}
	releaseAll(t, out)
}
