// Package upstream is the memory that a check puts beneath what it checks. An
// [Upstream] accounts for every byte that it gives, panics at misuse, and does
// wrong on command.
package upstream

import (
	"errors"
	"fmt"
	"sync"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// An Upstream passes calls on to its source, knows every byte that is out, and
// panics where a strategy gives back what it did not get, or gives it back
// twice. It has room for capacity bytes. [Upstream.Arm] tells it what to do
// wrong. It is safe for concurrent use, because goroutines of the runtime give
// back buffers that were forgotten.
type Upstream struct {
	source   slab.Allocator
	device   device.Device // the source as a device, nil if it is none
	capacity int64         // bytes

	mu          sync.Mutex // guards all below, and the ranges
	out         map[device.Region]lent
	ranges      map[device.Region]*watchedRange
	bytes, peak int64
	calls       int // that ask for memory
	refused     int // of them, for want of room
	fault       Fault
}

var _ slab.Allocator = (*Upstream)(nil)

// A lent block is out: as the strategy got it, and as the source knows it.
type lent struct{ given, real device.Block }

// New returns an upstream of capacity bytes over a source, which may be a
// [device.Device].
func New(source slab.Allocator, capacity int64) *Upstream {
	dev, _ := source.(device.Device)
	return &Upstream{
		source: source, device: dev, capacity: capacity,
		out: map[device.Region]lent{}, ranges: map[device.Region]*watchedRange{},
	}
}

// View returns u as a strategy is to see it: as a device if its source is one.
func (u *Upstream) View() slab.Allocator {
	if u.device != nil {
		return deviceView{u.device, u}
	}
	return u
}

// Alloc gives every block a region of its own.
func (u *Upstream) Alloc(size int) (device.Block, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if size < 0 {
		return device.Block{}, fmt.Errorf("fuzz: upstream asked for %d bytes: %w", size, slab.ErrSize)
	}
	u.calls++
	if err := u.strike(); err != nil {
		return device.Block{}, err
	}
	if err := u.room(size); err != nil || size == 0 {
		return device.Block{}, err
	}
	l, err := u.fault.give(u.source, size)
	if err != nil || l.given.Region == nil {
		return device.Block{}, u.refusal(err)
	}
	u.out[l.given.Region] = l
	u.count(u.cost(l))
	return l.given, nil
}

// room returns an error if size bytes more are too many. The caller holds u.mu,
// as for count.
func (u *Upstream) room(size int) error {
	if int64(size) > u.capacity-u.bytes {
		return u.refusal(fmt.Errorf("fuzz: upstream of %d bytes has %d out, %d asked: %w", u.capacity, u.bytes, size, device.ErrOutOfMemory))
	}
	return nil
}

// strike returns the error of a call whose turn it is to fail. The caller holds u.mu.
func (u *Upstream) strike() error { return u.refusal(u.fault.strike()) }

// refusal counts err, which it returns, if it says that there is no room: the source may have
// less than capacity. The caller holds u.mu.
func (u *Upstream) refusal(err error) error {
	if errors.Is(err, device.ErrOutOfMemory) {
		u.refused++
	}
	return err
}

func (u *Upstream) count(n int64) {
	u.bytes += n
	u.peak = max(u.peak, u.bytes)
}

// cost is what a block counts: on a device its whole region.
func (u *Upstream) cost(l lent) int64 {
	if u.device != nil {
		return int64(l.given.Region.Size())
	}
	return int64(l.given.Len)
}

// Free takes a block back exactly as it was given.
func (u *Upstream) Free(b device.Block) {
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

// Holds reports whether b lies in memory that is out.
func (u *Upstream) Holds(b device.Block) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if g, ok := u.ranges[b.Region]; ok {
		return g.holds(b.Off, b.Len)
	}
	l, ok := u.out[b.Region]
	return ok && b.Off >= l.given.Off && b.Off+b.Len <= l.given.Off+l.given.Len
}

// Accounts are what an upstream has seen so far.
type Accounts struct {
	Bytes, Peak int64 // out now, and at most at a time
	Calls       int   // that asked for memory
	Refused     int   // of them, for want of room
	Ranges      int   // that are open
}

// Accounts returns the accounts of u.
func (u *Upstream) Accounts() Accounts {
	u.mu.Lock()
	defer u.mu.Unlock()
	return Accounts{u.bytes, u.peak, u.calls, u.refused, len(u.ranges)}
}

// A deviceView is an upstream with all that the device beneath it can do.
type deviceView struct {
	device.Device
	up *Upstream
}

var _ device.Reserver = deviceView{}

func (d deviceView) Alloc(size int) (device.Block, error)   { return d.up.Alloc(size) }
func (d deviceView) Free(b device.Block)                    { d.up.Free(b) }
func (d deviceView) Reserve(size int) (device.Range, error) { return d.up.Reserve(size) }
