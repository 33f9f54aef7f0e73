package slab

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab/internal/upstream"
)

// ErrReleased says that a buffer was released before, by this handle or a copy of it.
var ErrReleased = errors.New("slab: PooledBuffer released already")

// ErrClosed says that the pool was closed.
var ErrClosed = errors.New("slab: pool closed")

// ErrForeign says that a slice is no active buffer of the pool.
var ErrForeign = errors.New("slab: the slice begins no buffer of this pool that is out")

var (
	// ErrSize says that a size is negative or too large to be represented.
	ErrSize = device.ErrSize
	// ErrParts says that a buffer has as many parts as it can have.
	ErrParts = errors.New("slab: PooledBuffer with too many parts")
	// ErrUpstream says that an upstream broke the contract of Allocator.
	ErrUpstream = upstream.ErrUpstream
)

// maxAsk is the most bytes of one call upstream.
const maxAsk = upstream.MaxSize

// outOfMemory reports whether err says that there was no room.
func outOfMemory(err error) bool { return upstream.OutOfMemory(err) }

// An OutOfMemoryError says that there was no room, though all held memory had
// been given back. It wraps the upstream's error, and so [device.ErrOutOfMemory]. Do not write to
// it: Gets that fail one after the other may return the same error.
type OutOfMemoryError struct {
	Size, Class            int // bytes as asked for; bytes of the block wanted
	HeldBytes, ActiveBytes int64
	Err                    error
	Pool                   string // its name: see Pool.Name

	unwatched int64 // of the active bytes: see unwatchedBytes
}

// Error also says where most of the active bytes may be forgotten buffers that nobody finds.
func (e *OutOfMemoryError) Error() string {
	text := fmt.Sprintf("slab: pool %s: no room for %d bytes (a block of %d), %d held, %d active: %v",
		e.Pool, e.Size, e.Class, e.HeldBytes, e.ActiveBytes, e.Err)
	if e.unwatched > e.ActiveBytes/2 {
		text += fmt.Sprintf(". %d of the active bytes are in blocks of at most 4 KiB: "+
			"no collection finds those that are forgotten, with on_forget=report it does", e.unwatched)
	}
	return text
}

// Unwrap returns the upstream's error.
func (e *OutOfMemoryError) Unwrap() error { return e.Err }

// A GuardError says that the memory of a guarded buffer was used after its Release; see
// Config.Guard.
type GuardError struct {
	Pool  string // its name: see Pool.Name
	Bytes int    // of the block

	// Outlived says that nothing was written, but that something still reached the memory
	// four collections after Release: a slice, or a handle that the program has kept (which
	// is no mistake by itself). It occurs on the Go heap only.
	Outlived bool

	Offset int // of the first byte that was written, or touched

	// Got and Released are the stacks of the Get and of the Release, a line for each call
	// outside this package, as function and file:line. If the buffer waited for a stream, or
	// was forgotten, Released is the stack of the pool's call that brought it back.
	Got, Released string
}

// Error names both stacks.
func (e *GuardError) Error() string {
	what := fmt.Sprintf("a use at offset %d of", e.Offset)
	if e.Outlived {
		what = "a slice or a handle still reaches"
	}
	return fmt.Sprintf("slab: pool %s: %s a block of %d bytes after its Release\ngot at\n%sreleased at\n%s", e.Pool,
		what, e.Bytes, e.Got, e.Released)
}

// A WaitError says that a context was done before there was room. It wraps the context's
// error, its cause, and the error of the last try, most often an *[OutOfMemoryError]: look for a WaitError first.
// Err is nil where the context was done before the call, and there was room.
type WaitError struct {
	Size   int           // bytes, as asked for
	Waited time.Duration // 0 if the context was done before the call
	Cause  error         // of the context
	Err    error         // why the last try found no room

	done          error
	blocks, bytes int64 // active in the pool
	waiters       int   // in the queue, with this call
}

// Error says what is in the way: how much of the pool is active, and how many calls wait in the queue. If
// every call that waits keeps buffers, none can go on.
func (e *WaitError) Error() string {
	text := fmt.Sprintf("slab: waited %v for %d bytes", e.Waited, e.Size)
	if e.waiters > 0 {
		text += fmt.Sprintf(" with %d bytes active in %d buffers, %d calls wait", e.bytes, e.blocks, e.waiters)
	}
	text += ": " + e.Cause.Error()
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the context's error, its cause, and Err.
func (e *WaitError) Unwrap() []error { return []error{e.done, e.Cause, e.Err} }

// A CheckError lists up to 100 faults that Config.Check found where no caller could be told: a damaged
// canary of a forgotten buffer, or of a buffer that streams used after its Release, and damaged poison
// of memory that went upstream. Close returns it, and each fault was logged when it was found.
//
// Elsewhere Config.Check panics with the fault: in Release, if something wrote beyond the buffer, and
// in a Get, if something wrote into the memory after its Release. It looks at the last 16,384 released
// blocks. It does not find a write that puts the poison back, nor a write to memory that has gone
// upstream. It looks at no free block of a registered strategy, as links may be in there.
//
// Config.Check costs 128 bytes a block, more in a pool whose blocks are aligned to more than 64, and a
// look at the call stack: it is for tests. Of memory that the CPU cannot reach it keeps only call sites.
type CheckError struct{ Faults []string }

func (e *CheckError) Error() string { return strings.Join(e.Faults, "\n") }

// A FileError says that a pool cannot use a file that its Config names: the file has other contents,
// another open pool will write it, or its folder does not exist.
type FileError struct {
	File string
	Err  error // what is wrong
}

func (e *FileError) Error() string { return fmt.Sprintf("slab: %s: %v", e.File, e.Err) }

// Unwrap returns Err.
func (e *FileError) Unwrap() error { return e.Err }
