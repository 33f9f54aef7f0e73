// Package device says where memory lives and how its bytes move.
//
// A [Device] makes regions; a [Block] is a piece of one. How blocks are
// reused is the business of package slab, which sees devices only through
// the interfaces of this file and the optional ones of capability.go.
//
// The devices of this package need no hardware:
//
//	heap        Go memory, owned by the garbage collector
//	mmap        memory outside the Go heap, given back by madvise
//	virtual     addresses without memory behind them, of any capacity
//	sim:SIZE    a simulated accelerator with its own address space
//
// Others live in directories of their own and call [Register].
package device

// A Region is one allocation as its device made it. Its dynamic type is the
// device's own and comparable: strategies use regions as map keys.
type Region interface {
	// Size returns the bytes that the region occupies on its device, at
	// least as many as were asked for.
	Size() int
}

// A HostRegion is a Region whose bytes the CPU can reach.
type HostRegion interface {
	Region
	// Bytes returns the whole region, nil if its memory is gone.
	Bytes() []byte
}

// A Block is Len bytes of a Region, starting at Off. It is a base and an
// offset, not an address, because a cl_mem has no arithmetic. Blocks are small
// comparable values; the zero Block holds no memory and is valid wherever
// zero bytes are asked for.
type Block struct {
	Region   Region
	Off, Len int
}

// Bytes returns the memory of b with its capacity cut to its length, or nil
// where the CPU cannot reach it. It does not copy.
func Bytes(b Block) []byte {
	h, ok := b.Region.(HostRegion)
	if !ok {
		return nil
	}
	m := h.Bytes()
	if m == nil {
		return nil
	}
	end := b.Off + b.Len
	return m[b.Off:end:end]
}

// Host returns m as a block, for copies between it and a device. The block
// keeps m alive, shares its bytes and is nobody's to free.
func Host(m []byte) Block {
	if len(m) == 0 {
		return Block{}
	}
	return Block{Region: &hostSlice{m[:len(m):len(m)]}, Len: len(m)}
}

// A hostSlice is the region of a slice that no device has made.
type hostSlice struct{ m []byte }

func (s *hostSlice) Size() int     { return len(s.m) }
func (s *hostSlice) Bytes() []byte { return s.m }

// A Device is a place where memory lives. It is safe for concurrent use.
type Device interface {
	// Name returns the name that Open takes for this device.
	Name() string
	// Alloc returns a whole region as a block of size bytes; the region may
	// be larger. The error wraps ErrOutOfMemory when there is no room and
	// ErrSize when size is negative or beyond what the device can address.
	// Size 0 gives the zero Block. Contents are undefined.
	Alloc(size int) (Block, error)
	// Free takes a block of Alloc back. It panics if b is not one, or is
	// free already; the zero Block is ignored.
	Free(b Block)
	// MemInfo returns the bytes that can still be allocated and the
	// device's capacity.
	MemInfo() (free, total int64, err error)
	// Copy moves src to dst: between host memory and this device, either
	// way, or within this device. The error wraps ErrSize when their lengths
	// differ or one is not inside its region, ErrUnavailable when one was
	// freed, is on another device or has no memory behind it. It moves
	// nothing then.
	Copy(dst, src Block) error
	// NewStream returns a queue of work on this device.
	NewStream() (Stream, error)
	// Close makes later calls fail with ErrClosed. Memory that is still
	// allocated stays valid until it is freed.
	Close() error
}

// A Stream is an ordered queue of device work. Its methods enqueue and may
// return before the work is done; Sync waits for it. Memory that enqueued work
// uses must stay allocated until then, and what it reads unchanged.
//
// The first error stays with the stream: no work is done after it, and Sync
// returns it whether or not an earlier call did, once nothing is under way any
// more. A Stream is safe for concurrent use; calls of several goroutines are
// enqueued in some order.
type Stream interface {
	Copy(dst, src Block) error
	Fill(dst Block, value byte) error
	// Record returns an event that is done when all work enqueued before is.
	// It fails on a stream that has failed.
	Record() (Event, error)
	// Wait makes work enqueued later wait for e, which may be of another
	// stream, or device. If the work before e fails, this stream fails with
	// its error too: what it was waiting for will never be there.
	Wait(e Event) error
	Sync() error
	// Close waits for the work, as Sync does, but leaves its error. After
	// it everything fails with ErrClosed, Close too.
	Close() error
}

// An Event is a point in a Stream. It is safe for concurrent use, and outlives
// its stream.
type Event interface {
	// Done reports whether the work before is over: done, or given up
	// because its stream has failed. It does not wait.
	Done() bool
	// Sync waits until the work before is over and returns the error for
	// which it was given up.
	Sync() error
}
