package slab

import (
	"runtime"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// cycle runs the collector and waits for the finalizers that it found due: a
// later one, queued behind them, tells.
func cycle() {
	ran := make(chan struct{})
	runtime.SetFinalizer(new([16]byte), func(*[16]byte) { close(ran) })
	runtime.GC()
	<-ran
}

func openPool(t testing.TB, dev string, c Config) *Pool {
	t.Helper()
	d, err := device.Open(dev)
	if err != nil {
		t.Fatal(err)
	}
	c.Device = dev
	p, err := Open(d, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() }) // addresses are few where an int has 32 bits
	return p
}

// 0 of 1,000 rounds corrupt a one-byte view that outlives its handle.
func TestForgottenHeapBufferNeverAliases(t *testing.T) {
	for _, size := range []int{1, 100, 5000, 100 << 10} {
		p := openPool(t, "heap", Config{})
		corrupt := viewRounds(250, func() ([]byte, func()) {
			b, err := p.Get(size)
			if err != nil {
				t.Fatal(err)
			}
			m := b.Bytes()
			return m[size-1:], func() { b.Release() }
		})
		if corrupt != 0 {
			t.Errorf("%d bytes: %d of 250 views were overwritten", size, corrupt)
		}
	}
}

// The control: a pool that recycles by a finalizer on the handle fails the
// same test, so the test can fail.
func TestRecyclingByHandleAliases(t *testing.T) {
	type handle struct{ m []byte }
	free := make(chan []byte, 1000)
	corrupt := viewRounds(50, func() ([]byte, func()) {
		var h *handle
		select {
		case m := <-free:
			h = &handle{m}
		default:
			h = &handle{make([]byte, 100)}
		}
		runtime.SetFinalizer(h, func(h *handle) { free <- h.m })
		return h.m[99:], func() { runtime.SetFinalizer(h, nil); free <- h.m }
	})
	if corrupt == 0 {
		t.Error("no view was overwritten: the test cannot fail")
	}
}

// viewRounds forgets a handle but keeps a view of its last byte, lets the
// collector run, gets and overwrites ten buffers more, and counts the views
// that changed.
func viewRounds(rounds int, get func() (last []byte, release func())) (corrupt int) {
	for range rounds {
		view, _ := get()
		view[0] = 0xA5
		cycle()
		var back []func()
		for range 10 {
			m, release := get()
			m[0] = 0x5A
			back = append(back, release)
		}
		if view[0] != 0xA5 {
			corrupt++
		}
		for _, release := range back {
			release()
		}
	}
	return corrupt
}

func TestMillionForgottenHeapBuffersComeBack(t *testing.T) {
	p := openPool(t, "heap", Config{})
	n := 1_000_000
	if testing.Short() || raceEnabled {
		n = 50_000
	}
	for i := range n {
		b, err := p.Get(1 + i%2000)
		if err != nil {
			t.Fatal(err)
		}
		b.Bytes()[0] = 1
	}
	p.FreeHeld()
	for range 3 {
		cycle()
	}
	p.FreeHeld()
	s := p.Stats()
	if s.Forgotten != int64(n) || s.ActiveBlocks != 0 || s.ActiveBytes != 0 || s.ManagedBytes != 0 {
		t.Errorf("after three collections %+v", s)
	}
}
