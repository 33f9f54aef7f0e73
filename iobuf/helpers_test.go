package iobuf

import (
	"errors"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

var errLost = errors.New("lost")

func openPool(t testing.TB, dev string, c slab.Config) *slab.Pool {
	t.Helper()
	c.Device = dev
	p := check.Ok(slab.Open(check.Ok(device.Open(dev))(t), c))(t)
	t.Cleanup(func() { p.Close() }) // addresses are few where an int has 32 bits
	return p
}

func openLine(t testing.TB, line string) *slab.Pool {
	t.Helper()
	p := slab.MustOpen(line)
	t.Cleanup(func() { p.Close() })
	return p
}

// everyStack runs f on each strategy over some devices.
func everyStack(t *testing.T, f func(t *testing.T, dev string, c slab.Config)) {
	for _, dev := range []string{"heap", "mmap", "mmap:fixed", "virtual", "sim"} {
		for _, s := range slab.Strategies() {
			t.Run(dev+","+s, func(t *testing.T) { f(t, dev, slab.Config{Strategy: s}) })
		}
	}
}

// checkNoneOut checks that a pool has no buffer out, and knows where all its memory is.
func checkNoneOut(t testing.TB, p *slab.Pool) {
	t.Helper()
	s := p.Stats()
	if s.ActiveBlocks != 0 || s.ActiveBytes != 0 {
		t.Errorf("buffers are out: %+v", s)
	}
	if sum := s.RoundingBytes + s.HeldBytes + s.UnusableBytes; sum != s.ManagedBytes || s.RoundingBytes < 0 {
		t.Errorf("managed %d, sum %d: %+v", s.ManagedBytes, sum, s)
	}
}

// gets returns the buffers that were got of p so far.
func gets(p *slab.Pool) int64 {
	s := p.Stats()
	return s.Hits + s.Misses
}

func doesPanic(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

func checkedPool(t *testing.T) *slab.Pool {
	return openPool(t, "heap", slab.Config{Strategy: "exact", Check: true})
}

func begins(b slab.PooledBuffer) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(b.Bytes()))
}

// writeBeyond writes to the canary after a buffer.
func writeBeyond(b slab.PooledBuffer) { *(*byte)(unsafe.Add(begins(b), b.Len())) = 1 }

// beginsIn reports whether m begins in the memory of b.
func beginsIn(m []byte, b slab.PooledBuffer) bool {
	return uintptr(unsafe.Pointer(unsafe.SliceData(m)))-uintptr(begins(b)) < uintptr(b.Len())
}

func mustRelease(t testing.TB, b slab.PooledBuffer) {
	t.Helper()
	if err := b.Release(); err != nil {
		t.Error(err)
	}
}

// wantPanic runs f, which must panic with exactly the given text.
func wantPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("panic %v, want %s", got, want)
		}
	}()
	f()
}

// collected runs the collector until the answer is yes.
func collected(t testing.TB, what string, yes func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !yes(); runtime.Gosched() {
		if runtime.GC(); time.Now().After(deadline) {
			t.Fatalf("not in 30 s: %s", what)
		}
	}
}
