package trace

import (
	"errors"
	"fmt"
)

// A Kind says what an [Op] does.
type Kind byte

// The kinds, as the op column has them.
const (
	Alloc  Kind = 'a'
	Free   Kind = 'f'
	Grow   Kind = 'G' // a live allocation goes on with another size; see slab.PooledBuffer.Grow
	Get    Kind = 'g' // a request to the buffer of a key, see package growpool
	Pledge Kind = 'p' // what the pool promised: see Promise
	On     Kind = 'd' // the device of the pool, whose name is the Key; it stands in the column id
)

// String returns the letter of the op column. It is g for a Grow, which has an id, and for a Get, which
// has none.
func (k Kind) String() string { return string(k.letter()) }

func (k Kind) letter() byte {
	if k == Grow {
		return 'g'
	}
	return byte(k)
}

// An Op is one row of a trace.
type Op struct {
	Kind   Kind
	ID     uint64 // of the allocation, its own as long as it is live; a Get has none
	Size   int    // bytes, as the program asked for them; of a Grow the new ones
	Key    string // the name of a keyed buffer, "" if there is none; a Get and an On have one
	Stream uint64 // the queue of device work that the memory is used on
	Thread uint64 // that called, as the recording numbers threads; that of a pool has processors there
	TimeNS int64  // since the beginning of the recording
}

// What can be wrong with a row. A [SyntaxError] wraps one of these.
var (
	// ErrMalformed says that a row is not what its columns want.
	ErrMalformed = errors.New("malformed row")
	// ErrUnknownID says that a free or a grow names an id that is not live.
	ErrUnknownID = errors.New("unknown id")
	// ErrDoubleFree says that a free names an id that is free already. Where ids do not
	// count up by one that cannot be told from an unknown id, and is one.
	ErrDoubleFree = errors.New("freed twice")
	// ErrReusedID says that an allocation names an id that is live.
	ErrReusedID = errors.New("id is live")
	// ErrSize says that a size is negative, too large for an int, or on a
	// free another than on the allocation.
	ErrSize = errors.New("wrong size")
	// ErrKeyed says that requests to keyed buffers (op g) stand beside
	// allocations, or that such a trace was given to [Replay]: they want
	// package growpool and not an allocator.
	ErrKeyed = errors.New("op g, a request to growpool, among allocations")
)

// A SyntaxError says where a trace is wrong.
type SyntaxError struct {
	File string
	Line int // from 1, as editors count; 0 where no line could be read
	Err  error
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("trace: %s:%d: %v", e.File, e.Line, e.Err)
}

func (e *SyntaxError) Unwrap() error { return e.Err }
