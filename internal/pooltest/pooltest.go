// Package pooltest holds what the tests of packages on a slab.Pool repeat.
package pooltest

import (
	"testing"
	"unsafe"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// Open opens a pool on a device until the end of the test.
func Open(t testing.TB, dev string, c slab.Config) *slab.Pool {
	t.Helper()
	c.Device = dev
	p := check.Ok(slab.Open(check.Ok(device.Open(dev))(t), c))(t)
	t.Cleanup(func() { p.Close() }) // addresses are few where an int has 32 bits
	return p
}

// OpenLine opens the pool of a line until the end of the test.
func OpenLine(t testing.TB, line string) *slab.Pool {
	t.Helper()
	p := slab.MustOpen(line)
	t.Cleanup(func() { p.Close() })
	return p
}

// EveryStack runs f on each strategy over some devices.
func EveryStack(t *testing.T, f func(t *testing.T, dev string, c slab.Config)) {
	for _, dev := range []string{"heap", "mmap", "mmap:fixed", "virtual", "sim"} {
		for _, s := range slab.Strategies() {
			t.Run(dev+","+s, func(t *testing.T) { f(t, dev, slab.Config{Strategy: s}) })
		}
	}
}

// NoneOut checks that a pool has no buffer out, and knows where all its memory is.
func NoneOut(t testing.TB, p *slab.Pool) {
	t.Helper()
	s := p.Stats()
	if s.ActiveBlocks != 0 || s.ActiveBytes != 0 {
		t.Errorf("buffers are out: %+v", s)
	}
	if sum := s.RoundingBytes + s.HeldBytes + s.UnusableBytes; sum != s.ManagedBytes || s.RoundingBytes < 0 {
		t.Errorf("managed %d, sum %d: %+v", s.ManagedBytes, sum, s)
	}
}

// Gets returns the buffers that were got of p so far.
func Gets(p *slab.Pool) int64 {
	s := p.Stats()
	return s.Hits + s.Misses
}

// Panics reports whether f panics.
func Panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return false
}

// Checked opens a pool that checks canaries.
func Checked(t *testing.T) *slab.Pool {
	return Open(t, "heap", slab.Config{Strategy: "exact", Check: true})
}

// Begins returns where a buffer begins.
func Begins(b slab.PooledBuffer) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(b.Bytes()))
}

// WriteBeyond writes to the canary after a buffer.
func WriteBeyond(b slab.PooledBuffer) { *(*byte)(unsafe.Add(Begins(b), b.Len())) = 1 }

// BeginsIn reports whether m begins in the memory of b.
func BeginsIn(m []byte, b slab.PooledBuffer) bool {
	return uintptr(unsafe.Pointer(unsafe.SliceData(m)))-uintptr(Begins(b)) < uintptr(b.Len())
}
