package fuzz

import (
	"fmt"
	"sync"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// An upstream is what a check puts beneath a strategy. It passes calls on to
// its source, knows every byte that is out, and panics where the strategy
// gives back what it did not get, or gives it back twice. It has room for
// capacity bytes and does what it is told to do wrong; see upstream_fault.go.
// It is safe for concurrent use, as forgotten buffers come back on goroutines
// of the runtime.
type upstream struct {
	source   slab.Allocator
	own      bool  // the source is a device: whole regions count
	capacity int64 // bytes

	mu          sync.Mutex
	out         map[device.Region]lent
	ranges      map[device.Region]*watchedRange
	bytes, peak int64
	calls       int // that ask for memory
	fault       fault
}

// A lent block is one that the strategy has, as it was given and as the
// source knows it.
type lent struct{ given, real device.Block }

func newUpstream(source slab.Allocator, capacity int64) *upstream {
	_, own := source.(device.Device)
	return &upstream{
		source: source, own: own, capacity: capacity,
		out: map[device.Region]lent{}, ranges: map[device.Region]*watchedRange{},
	}
}

// Alloc gives every block a region of its own.
func (u *upstream) Alloc(size int) (device.Block, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if size < 0 {
		return device.Block{}, fmt.Errorf("fuzz: upstream asked for %d bytes: %w", size, slab.ErrSize)
	}
	u.calls++
	if err := u.fault.strike(); err != nil {
		return device.Block{}, err
	}
	if err := u.room(size); err != nil || size == 0 {
		return device.Block{}, err
	}
	l, err := u.fault.give(u.source, size)
	if err != nil || l.given.Region == nil {
		return device.Block{}, err
	}
	u.out[l.given.Region] = l
	u.count(u.cost(l))
	return l.given, nil
}

func (u *upstream) room(size int) error {
	if int64(size) > u.capacity-u.bytes {
		return fmt.Errorf("fuzz: upstream of %d bytes has %d out, %d asked: %w", u.capacity, u.bytes, size, device.ErrOutOfMemory)
	}
	return nil
}

func (u *upstream) count(n int64) {
	u.bytes += n
	u.peak = max(u.peak, u.bytes)
}

// cost is what a block counts: where it has a region of its own, all of it.
func (u *upstream) cost(l lent) int64 {
	if u.own {
		return int64(l.given.Region.Size())
	}
	return int64(l.given.Len)
}

// Free takes a block back exactly as it was given.
func (u *upstream) Free(b device.Block) {
	if b == (device.Block{}) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	l, ok := u.out[b.Region]
	if !ok || l.given != b {
		panic(fmt.Sprintf("fuzz: upstream got back %d bytes at offset %d, which are not out", b.Len, b.Off))
	}
	delete(u.out, b.Region)
	u.count(-u.cost(l))
	u.source.Free(l.real)
}

// holds reports whether b lies in memory that is out.
func (u *upstream) holds(b device.Block) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if g, ok := u.ranges[b.Region]; ok {
		return g.holds(b.Off, b.Len)
	}
	l, ok := u.out[b.Region]
	return ok && b.Off >= l.given.Off && b.Off+b.Len <= l.given.Off+l.given.Len
}

// A ledger is what an upstream has seen so far.
type ledger struct {
	bytes, peak int64
	calls       int
	ranges      int // that are open
}

func (u *upstream) ledger() ledger {
	u.mu.Lock()
	defer u.mu.Unlock()
	return ledger{u.bytes, u.peak, u.calls, len(u.ranges)}
}

// A deviceUpstream is an upstream that shows itself as the device beneath it.
type deviceUpstream struct {
	device.Device
	*upstream
}

// Alloc is the upstream's.
func (d deviceUpstream) Alloc(size int) (device.Block, error) { return d.upstream.Alloc(size) }

// Free is the upstream's.
func (d deviceUpstream) Free(b device.Block) { d.upstream.Free(b) }
