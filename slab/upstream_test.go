package slab

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/bufslab/bufslab/device"
)

// fakeRegion is memory of exactly the size asked for.
type fakeRegion struct {
	size  int
	bytes []byte // nil unless its upstream is a host
	id    int    // regions of an upstream are numbered from 1
}

func (r *fakeRegion) Size() int      { return r.size }
func (r *fakeRegion) Bytes() []byte  { return r.bytes }
func (r *fakeRegion) String() string { return fmt.Sprintf("region %d of %d bytes", r.id, r.size) }

// fake is an upstream without memory, which counts, refuses beyond a capacity
// and fails when told to. Its zero value never fails.
type fake struct {
	capacity int64 // 0 is none
	failAt   int   // this call of Alloc, from 1, is refused; 0 is none
	failWith error // instead of out of memory
	host     bool  // regions have bytes
	round    int   // regions are multiples of this many bytes; 0 is 1

	mu                   sync.Mutex
	calls, allocs, frees int
	bytes                int64
	out                  map[*fakeRegion]int // length as asked
}

func (f *fake) Alloc(size int) (device.Block, error) {
	if size == 0 {
		return device.Block{}, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.calls == f.failAt && f.failWith != nil {
		return device.Block{}, f.failWith
	}
	round := max(f.round, 1)
	n := (size + round - 1) / round * round
	if f.calls == f.failAt || f.capacity > 0 && f.bytes+int64(n) > f.capacity {
		return device.Block{}, fmt.Errorf("fake: %d bytes: %w", size, device.ErrOutOfMemory)
	}
	f.allocs++
	f.bytes += int64(n)
	r := &fakeRegion{size: n, id: f.allocs}
	if f.host {
		r.bytes = make([]byte, roundUp(n, 32))[:n:n] // aligned to 16
	}
	if f.out == nil {
		f.out = map[*fakeRegion]int{}
	}
	f.out[r] = size
	return device.Block{Region: r, Len: size}, nil
}

func (f *fake) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r := b.Region.(*fakeRegion)
	if size, ok := f.out[r]; !ok || b.Off != 0 || b.Len != size {
		panic(fmt.Sprintf("fake: Free of a block that is not out, %d bytes at offset %d", b.Len, b.Off))
	}
	delete(f.out, r)
	f.frees++
	f.bytes -= int64(r.size)
}

// fakeDevice is a fake that says it is a device: its blocks are whole regions.
type fakeDevice struct {
	device.Device
	*fake
}

func (f fakeDevice) Alloc(size int) (device.Block, error) { return f.fake.Alloc(size) }
func (f fakeDevice) Free(b device.Block)                  { f.fake.Free(b) }

// block returns a block of size bytes that no other call returns.
func block(size int) device.Block {
	return device.Block{Region: &fakeRegion{size: size}, Len: size}
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

func number(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
