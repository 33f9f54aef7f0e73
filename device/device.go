// Package device says where memory lives and how its bytes move.
//
// Most programs do not call it: they name a device in the line of a pool, see package slab. It is for
// programs that move bytes to a device, or have a device of their own.
//
//	d, err := device.Open("mmap")
//	b, err := d.Alloc(1 << 20)           // a Block: a piece of a Region
//	copy(device.Bytes(b), "hello")       // nil where the CPU cannot reach the memory
//	err = d.Copy(b, device.Host(source)) // from a slice; also between any two blocks of d
//	d.Free(b)
//	err = d.Close()
//
// The devices of this package need no hardware:
//
//	heap        Go memory, owned by the garbage collector
//	mmap        memory outside the Go heap, given back by madvise, or on Windows by VirtualFree
//	virtual     addresses without memory behind them, of any capacity
//
// Other devices have packages of their own and call [Register] when they are imported: device/sim is
// a simulated accelerator; device/cuda, device/opencl and device/metal drive real ones.
//
// # A device of your own
//
// Implement [Device]. Further interfaces add abilities: [Reserver], [Pinner], [Quarantiner], [Collected],
// [Overseer]. [Traits] are facts that pools have to know. Begin the methods with [CheckBlock] and
// [CheckCopy]. Package device/devicetest tests a device.
package device

import "fmt"

// A Region is one allocation of a device. Each device has its own type of
// region, which is comparable: strategies use regions as map keys.
type Region interface {
	// Size returns the bytes that the region takes on its device. It may be
	// more than Alloc was asked for.
	Size() int
}

// A HostRegion is a Region whose bytes the CPU can reach.
type HostRegion interface {
	Region
	// Bytes returns the memory of the whole region, or nil if it was freed.
	Bytes() []byte
}

// A Block is Len bytes of a Region, starting at Off. It is not an address,
// because OpenCL's buffers have none to calculate with. Blocks are small
// comparable values. The zero Block has no memory and zero bytes.
type Block struct {
	Region   Region
	Off, Len int
}

// Bytes returns the memory of b with its capacity cut to its length, or nil
// where the CPU cannot reach the memory. It does not copy. It panics if b is not
// within its region, as only a made-up Block can be.
func Bytes(b Block) []byte {
	h, ok := b.Region.(HostRegion)
	if !ok {
		return nil
	}
	m := h.Bytes()
	if m == nil {
		return nil
	}
	if b.Off < 0 || b.Len < 0 || b.Off > len(m)-b.Len {
		panic(fmt.Sprintf("device: block of %d bytes at offset %d of a region of %d", b.Len, b.Off, len(m)))
	}
	end := b.Off + b.Len
	return m[b.Off:end:end]
}

// Host returns m as a block, for copies between m and a device. The block
// shares the bytes of m and keeps them alive. No device takes it back with Free.
func Host(m []byte) Block {
	if len(m) == 0 {
		return Block{}
	}
	return Block{Region: &hostSlice{m[:len(m):len(m)]}, Len: len(m)}
}

// A hostSlice is the region of a slice that no device allocated.
type hostSlice struct{ m []byte }

func (s *hostSlice) Size() int     { return len(s.m) }
func (s *hostSlice) Bytes() []byte { return s.m }

// A Device is a place where memory lives. It is safe for concurrent use.
type Device interface {
	// Name returns the name that Open takes for this device.
	Name() string
	// Alloc makes a region and returns its first size bytes as a block; the
	// region may be larger. Contents are undefined. Size 0 gives the zero
	// Block. The error wraps ErrOutOfMemory when there is no room, and ErrSize
	// when size is negative or more than the device can address.
	Alloc(size int) (Block, error)
	// Free takes a block of Alloc back. It panics if b did not come from Alloc
	// of this device or was freed already. It ignores the zero Block.
	Free(b Block)
	// MemInfo returns the bytes that can still be allocated and the
	// device's capacity.
	MemInfo() (free, total int64, err error)
	// Copy copies src to dst: from host memory to this device, back, or within
	// this device. The two may overlap. The error wraps ErrSize when the
	// lengths differ or a block is not inside its region, and ErrUnavailable
	// when a block was freed, is on another device or has no memory. After an
	// error no byte has moved.
	Copy(dst, src Block) error
	// NewStream returns a queue of work on this device.
	NewStream() (Stream, error)
	// Close makes later calls fail with ErrClosed, except Free. Allocated
	// memory stays valid until it is freed.
	Close() error
}

// A Stream is an ordered queue of device work. Its methods enqueue work and may
// return before the work is done; Sync waits for it. Until then the memory that
// the work uses must stay allocated, and the memory that it reads unchanged.
//
// The first error stays with the stream, and no work is done after it. Sync first
// waits until no work of the stream runs, and then returns that error, even if
// an earlier call returned it, too. A Stream is safe for concurrent use; calls
// of several goroutines are enqueued in some order.
type Stream interface {
	Copy(dst, src Block) error
	Fill(dst Block, value byte) error
	// Record returns an event that is done when all work enqueued before it
	// is done. It fails on a stream that has failed.
	Record() (Event, error)
	// Wait makes work enqueued later wait for e, an event of any stream of any
	// device. If the work before e fails, this stream fails with the same
	// error. If e is nil, it fails with an error that wraps ErrUnavailable.
	Wait(e Event) error
	Sync() error
	// Close waits for the work as Sync does, but does not return its error.
	// Every later call fails with ErrClosed, also a second Close.
	Close() error
}

// An Event is a point in a Stream. It is safe for concurrent use, and stays
// valid after its stream is closed.
type Event interface {
	// Done reports whether the work before the event is over: done, or given
	// up because its stream has failed. It does not wait.
	Done() bool
	// Sync waits until the work before the event is over. It returns the error
	// if the work was given up.
	Sync() error
}
