package iobuf

import (
	"context"
	"fmt"
	"math"
	"net"
	"syscall"

	"github.com/bufslab/bufslab/slab"
)

// ReadReady waits until c has bytes, takes n bytes of p only then, and reads once. An idle connection
// holds no memory of the pool. The buffer has the length that was read, at least 1 except for an empty
// datagram. Its block has room for n bytes, so that a Grow to n copies nothing.
//
// The error is io.EOF at the end of a stream. It wraps net.ErrClosed where c was closed (os.ErrClosed
// for a file), os.ErrDeadlineExceeded at c's own read deadline, slab.ErrSize where n is below 1 or
// no less than 4 GiB, the errno of the system, or the error of [slab.Pool.Get]. Without room in the pool
// nothing is read: no byte is lost, and a later call gets the bytes.
//
// The end of ctx wakes the wait, and the error wraps ctx.Err() and the context's cause. There is no
// goroutine for that: c's read deadline is set to the past. Afterwards c has no read deadline, even if
// it had one before. So set deadlines again after such an error. If bytes have come by then, the call
// returns them, and c has no deadline either. If c has no SetReadDeadline, or is a file that package os
// cannot wait for, such as a standard input, ReadReady looks at ctx only before the wait. A nil ctx is never
// done.
//
// n is the caller's: a peer that has sent one byte holds n bytes. Do not take a length that the peer declares
// for n, but the most that one read should bring, and a [Buffer] for what is longer.
//
// ReadReady is for one reader of c at a time: another reader may take the bytes, and then the wait goes
// on. It is for types that read bytes of the system, such as *net.TCPConn, *net.UnixConn and *os.File
// of a pipe, on Linux, macOS and the BSDs. On other systems it treats c as [ReadConn] treats other
// connections, and a c without Read is errors.ErrUnsupported. It is not for a connection with a layer
// above, such as TLS: take ReadConn.
func ReadReady(ctx context.Context, c syscall.Conn, p *slab.Pool, n int) (slab.PooledBuffer, error) {
	return untilDone(ctx, c, n, func() (slab.PooledBuffer, error) { return readReady(c, p, n) })
}

// ReadConn is ReadReady for a *net.TCPConn or a *net.UnixConn, where the system tells when bytes have
// come. Any other connection, TLS or a type that embeds one of these, does not tell. Then ReadConn takes
// 512 bytes of p, or n if that is less, and reads once. When bytes have come it takes n bytes, moves the
// bytes there, and gives the 512 back. So an idle connection holds 512 bytes.
//
// Without room for n ReadConn returns the small buffer: no byte is lost. It does not read on, as that
// could wait. If you know that more bytes follow, read them into the rest of the buffer, by Grow(n). If
// a Read returns bytes and an error, the next Read has to return the error.
//
// If Read returns neither bytes nor an error a hundred times, the error is io.ErrNoProgress. Errors,
// ctx, and n are as for ReadReady.
func ReadConn(ctx context.Context, c net.Conn, p *slab.Pool, n int) (slab.PooledBuffer, error) {
	switch c := c.(type) {
	case *net.TCPConn:
		return ReadReady(ctx, c, p, n)
	case *net.UnixConn:
		return ReadReady(ctx, c, p, n)
	}
	return untilDone(ctx, c, n, func() (slab.PooledBuffer, error) { return readPiece(c, p, n) })
}

// untilDone calls read, and wakes it at the end of ctx.
func untilDone(ctx context.Context, c any, n int, read func() (slab.PooledBuffer, error)) (
	h slab.PooledBuffer, err error,
) {
	if n == 0 || uint64(n) > math.MaxUint32 { // as a negative n is, too
		return none, fmt.Errorf("iobuf: a read of %d bytes: %w", n, slab.ErrSize)
	}
	if ctx == nil {
		ctx = context.Background()
	}
	if ctx.Err() != nil {
		return none, doneError(ctx)
	}
	w := wakeAt(ctx, c)
	defer func() {
		if w.end() && err != nil {
			err = doneError(ctx)
		}
	}()
	return read()
}

// doneError is the error of a call whose context has ended.
func doneError(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != ctx.Err() {
		return fmt.Errorf("iobuf: %w: %w", ctx.Err(), cause)
	}
	return fmt.Errorf("iobuf: %w", ctx.Err())
}

// cutTo returns a handle of the first n bytes of h, and ends h. As less than 4 GiB remain, that takes no
// memory: bytes that were read are not lost where the pool is full or closed.
func cutTo(h slab.PooledBuffer, n int) (slab.PooledBuffer, error) {
	if n == h.Len() {
		return h, nil
	}
	return h.Grow(n)
}
