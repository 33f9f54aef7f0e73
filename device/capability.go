package device

import "fmt"

// These interfaces are for abilities that only some devices and regions have. A
// program finds out by a type assertion. Facts about a device are in [Traits].

// A Reserver can set aside a range of addresses and put memory behind it
// piece by piece. Wrappers implement it whether or not the device below does.
// If the device does not, Reserve gives an error that wraps ErrUnavailable.
type Reserver interface {
	// Reserve sets aside up to size bytes of addresses, in whole pages. The range
	// may have less: see the Size of its Region. No memory is committed. For less
	// than a page the error wraps ErrSize. If addresses are too few, now or always,
	// the error wraps ErrOutOfMemory or ErrUnavailable; Alloc may still succeed.
	Reserve(size int) (Range, error)
}

// A Range is a region that grows in place. Only one goroutine at a time may
// call Commit, Decommit and Close.
type Range interface {
	// Region returns the region of all reserved addresses; Size is their
	// number. Only committed bytes may be used.
	Region() Region
	// Page returns the granularity of Commit and Decommit in bytes, a power of two.
	Page() int
	// Commit puts memory behind n bytes from off, both multiples of Page.
	// Bytes that are committed already keep their contents; the contents of
	// the others are undefined. The error wraps ErrOutOfMemory when there is no
	// room, and ErrSize when the bytes are not in the range or not whole pages.
	Commit(off, n int) error
	// Decommit gives back the memory of n committed bytes from off. Their
	// contents are lost; their addresses stay reserved. It has Commit's errors.
	// If it fails, all n bytes are still committed, with undefined contents.
	Decommit(off, n int) error
	// Close gives back all memory and the addresses. Later calls fail with
	// ErrClosed.
	Close() error
}

// A LazyRange is a Range of a device that finds memory for a page when the page is first used,
// or committed. One call makes addresses usable ahead, which costs no memory: on Windows a
// sixteenth ahead, which its commit limit counts, else far. So a heap commits only the bytes that
// it needs, and only committed bytes may have been touched.
type LazyRange interface {
	Range
	// Ready returns the end of the usable bytes from 0: their Commit at most finds memory for
	// pages before the first use, and for a few pages beyond. It is negative for a wrapper
	// around a Range that is not lazy.
	Ready() int
}

// A Shrinker is the Region of a Range that can give up some of its addresses for good.
type Shrinker interface {
	// GiveUp gives back the addresses of n bytes from off, both multiples of the range's
	// Page. None of these bytes is committed, or ever will be. If they are at the end of the
	// Region its Size shrinks. The error wraps ErrSize for other bytes, for the whole Region, for
	// bytes that were given up already, and for a Region of Alloc; nothing changes then. No
	// Commit, Decommit or Close of the range may run at the same time.
	GiveUp(off, n int) error
}

// A Pinner is a Device with page-locked host memory, from which its streams
// copy without waiting.
type Pinner interface {
	// Pinned returns the page-locked memory as a Device whose regions are
	// HostRegions, the same Device at each call. Its name is the parent's with
	// ":pinned" appended. Close of the parent closes it. The error wraps
	// ErrUnavailable where there is no such memory.
	Pinned() (Device, error)
}

// An Overseer is a Device that knows which work its streams have under way. A pool with Config.Check
// then reports memory that is released too early.
type Overseer interface {
	// UnderWay reports whether work of a stream that is not done uses bytes of b. It ignores work of the
	// streams but, and work that these streams wait for.
	UnderWay(b Block, but ...Stream) bool
}

// An Accepter is a Stream that knows which memory it can work on.
type Accepter interface {
	// Accepts returns nil if the stream takes work on b, and leaves no trace. If b is memory that the stream cannot
	// reach, such as memory of another device, the error wraps ErrUnavailable. After Close it wraps ErrClosed.
	Accepts(b Block) error
}

// Accepts is s.Accepts(b), and nil if s is no [Accepter]. For a nil s the error wraps ErrUnavailable.
func Accepts(s Stream, b Block) error {
	if s == nil {
		return fmt.Errorf("device: no stream: %w", ErrUnavailable)
	}
	if a, ok := s.(Accepter); ok {
		return a.Accepts(b)
	}
	return nil
}

// A Quarantiner is a Region that can give up some of its bytes for good, because code that has
// released them may still use them.
type Quarantiner interface {
	// Quarantine gives back the whole pages within n bytes from off, whose contents
	// are lost. A later access to the pages faults, or finds zeros if the system has no
	// room for another mapping. They must not be used or committed again.
	Quarantine(off, n int) error
}

// A Collected region has memory that the garbage collector owns: it stays as
// long as a slice of it or the region reaches it. A pool uses that to notice
// forgotten buffers: while buffers are out it loosens the region, and then only
// their slices keep the memory.
type Collected interface {
	HostRegion
	// Watch makes the runtime call lost, on a goroutine of its own, each time
	// the collector finds the memory of the loosened region unreachable. Bytes
	// is then nil until lost calls Hold, which takes the memory back with its
	// contents. If lost returns without a call of Hold, the memory is collected.
	// lost may refer to the region, but not to its memory. Call Watch at most
	// once.
	Watch(lost func())
	// Loosen makes the region keep its memory only as long as a slice of it is
	// reachable.
	Loosen()
	// Hold undoes Loosen. It reports false when the collector has found the
	// memory unreachable and has not called lost yet.
	Hold() bool
}
