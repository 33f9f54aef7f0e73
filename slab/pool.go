package slab

import (
	"fmt"
	"sync/atomic"
	"weak"

	"github.com/bufslab/bufslab/slab/internal/handle"
)

// A Pool hands out buffers of an upstream's memory and keeps released memory for
// reuse, by the strategy that its Config names. It is safe for concurrent use.
//
// Above its strategy a Pool keeps some released blocks for each processor
// (Config.CacheBytes), and it gives every buffer a handle that can be released once.
// Below the strategy are, in this order from the upstream: the byte budget
// (Config.MaxBytes) and the accounting.
//
// A buffer that is forgotten comes back and never aliases. On the Go heap the
// collector watches the memory, so any live slice of a buffer delays it; small
// buffers share slabs and come back with their slab. Off the heap a buffer comes back if its
// bytes were used through With or not at all. If Bytes was called, the address is
// never used again, the pages are given back, and a late reader faults. Off the
// heap the pool does not notice that a buffer of at most 4 KiB of host memory was
// forgotten, unless Config.OnForget is "report".
//
// Memory that streams of a device work on may be released as soon as the work is
// enqueued: see [PooledBuffer.UsedOn] and [Pool.GetOn].
//
// A pool holds memory until a call gives it back, or until it was unused for Config.TrimAfter.
// By default that is 10 seconds, on every device, also while the pool is in use. A Pool that is
// itself forgotten gives back held memory; its buffers stay valid, with all their methods.
// Close gives held memory back at once and reports buffers that are still active.
//
//	every day          Get, GetContext, GetAll, Stats, Close
//	slices alone       GetBytes, GetBytesContext, Put
//	less memory        FreeHeld, Trim, StopHolding, SetMaxBytes
//	devices            GetOn, GetZeroed, Device
//	what is out        Leaks, Metrics, Fragmentation, WriteProfile, ResetPeaks, GuardFault
//	the configuration  Explain, Name, Closed, WriteRecord
//	packages on pools  Lookup, AddReclaimer, RemoveReclaimer, Offer
type Pool struct{ pool *pool }

// errNotOpened is what Gets of a nil or zero Pool return.
var errNotOpened = fmt.Errorf("slab: a Pool that Open did not return: %w", ErrClosed)

// isOpened reports whether p came from Open.
func (p *Pool) isOpened() bool { return p != nil && p.pool != nil }

// opened returns the pool that Open made for p, or panics.
func (p *Pool) opened() *pool {
	if !p.isOpened() {
		panic("slab: a Pool that Open did not return")
	}
	return p.pool
}

// A pool is a Pool without the part that its user holds, so that the collector can tell when the user has let go of
// it. It is three parts, whose methods know nothing of each other: which buffers the program has, where there is
// memory, and what comes back late. A method that needs one part alone is a method of that part, and a pool's own
// methods join them. Each part says which locks it has; docs/design.md lists them all in their order.
type pool struct {
	config settings // fixed once the pool is open
	lending
	room
	forgotten

	over atomic.Pointer[pool] // of plain memory; nil until it is wanted, see overflow.go

	onClose             []func() error
	ended, deviceClosed atomic.Bool // see close.go

	front weak.Pointer[Pool] // the program's Pool
}

// poolOf returns the pool of a slot.
func poolOf(s *handle.Slot) *pool { return (*pool)(s.Owner()) }
