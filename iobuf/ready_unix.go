//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package iobuf

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// mostRead is the most bytes of a read: some systems refuse more.
const mostRead = 1 << 30

func readReady(c syscall.Conn, p *slab.Pool, n int) (slab.PooledBuffer, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return none, err
	}
	r := reading{pool: p, n: n}
	for {
		if err = raw.Read(r.try); err == nil {
			return r.got, r.err
		}
		if !cannotWait(c, err) {
			return none, closedOr(c, err)
		}
		r.asked, r.timeout = false, forever
	}
}

// cannotWait reports whether err says that the runtime does not wait for c, such as a pipe that the process
// got as its standard input: no value tells. Such a c has no deadline, so the call that asks changes none.
func cannotWait(c syscall.Conn, err error) bool {
	d, ok := c.(interface{ SetReadDeadline(time.Time) error })
	return ok && !errors.Is(err, os.ErrDeadlineExceeded) && errors.Is(d.SetReadDeadline(time.Time{}), os.ErrNoDeadline)
}

// closedOr returns err, or os.ErrClosed for a closed file: the RawConn of package os has an error of its
// own for that, which wraps nothing.
func closedOr(c syscall.Conn, err error) error {
	if f, ok := c.(*os.File); ok {
		if _, closed := f.Read(nil); closed != nil {
			return closed
		}
	}
	return err
}

// A reading is a call of ReadReady.
type reading struct {
	pool    *slab.Pool
	n       int
	asked   bool
	timeout int // of the question: 0, or forever where the runtime does not wait
	got     slab.PooledBuffer
	err     error
}

// forever is no timeout for poll.
const forever = -1

// try is called by the RawConn: once at first, and whenever bytes may have come. It returns false to
// wait. The first call asks the system, as the wait does not notice bytes that came before it began.
func (r *reading) try(fd uintptr) (done bool) {
	if !r.asked {
		r.asked = true
		if !isReadable(int(fd), r.timeout) {
			return false
		}
	}
	h, err := r.pool.Get(r.n)
	if err != nil {
		r.err = err
		return true
	}
	n, err := readInto(h, int(fd))
	if err == nil {
		r.got, r.err = cutTo(h, n)
		return true
	}
	_ = h.Release()
	if err == unix.EAGAIN { // another reader was faster
		return false
	}
	r.err = err
	return true
}

// isReadable reports whether a read would not wait: there are bytes, the end, or an error. It waits for that for
// some milliseconds, or forever.
func isReadable(fd, timeout int) bool {
	list := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(list, timeout)
		if err != unix.EINTR {
			return n > 0 || err != nil
		}
	}
}

// readInto reads once into h, by With: off the heap a slice of Bytes would keep a forgotten buffer from
// coming back.
func readInto(h slab.PooledBuffer, fd int) (n int, err error) {
	stale := h.With(func(m []byte) {
		if m == nil {
			err = fmt.Errorf("iobuf: the CPU does not reach the pool's memory: %w", device.ErrUnavailable)
			return
		}
		n, err = read(fd, m[:min(len(m), mostRead)])
	})
	if stale != nil {
		return 0, stale
	}
	return n, err
}

// read is one read of the system. EAGAIN comes as it is, other errors with the call's name.
func read(fd int, m []byte) (n int, err error) {
	for {
		switch n, err = unix.Read(fd, m); {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return 0, err
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		case n == 0 && isStream(fd):
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// isStream reports whether fd is no socket of datagrams: then a read of no bytes is the end.
func isStream(fd int) bool {
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	return err != nil || kind != unix.SOCK_DGRAM && kind != unix.SOCK_RAW
}
