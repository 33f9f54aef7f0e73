package iobuf

import (
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/slab"
)

// Reads of connections that do not tell when bytes have come.

const (
	pieceBytes = leastBlock // what such a connection holds while it is idle
	mostEmpty  = 100        // Reads without bytes or an error in a row
)

// readPiece reads once into a small buffer, and moves the bytes into a buffer of n bytes.
func readPiece(r io.Reader, p *slab.Pool, n int) (h slab.PooledBuffer, err error) {
	first, err := p.Get(min(n, pieceBytes))
	if err != nil {
		return none, err
	}
	keep := false
	defer func() {
		if !keep {
			_ = first.Release()
		}
	}()
	k, err := readOnce(r, first)
	if err != nil {
		return none, err
	}
	if n > pieceBytes {
		h, err = p.Get(n)
	}
	if n <= pieceBytes || err != nil { // there is no room for n bytes: the small buffer keeps the bytes
		keep = true
		return cutTo(first, k)
	}
	_ = h.With(func(to []byte) {
		_ = first.With(func(from []byte) { copy(to, from[:k]) })
	})
	return cutTo(h, k)
}

// readOnce reads once from r into h, and drops the error of a Read with bytes.
func readOnce(r io.Reader, h slab.PooledBuffer) (n int, err error) {
	stale := h.With(func(m []byte) {
		if m == nil {
			err = fmt.Errorf("iobuf: the CPU does not reach the pool's memory: %w", device.ErrUnavailable)
			return
		}
		for empty := 0; n == 0 && err == nil; empty++ {
			if empty == mostEmpty {
				err = io.ErrNoProgress
				return
			}
			if n, err = r.Read(m); n < 0 || n > len(m) {
				panic(fmt.Sprintf("iobuf: a Reader has put %d bytes into %d of a buffer", n, len(m)))
			}
		}
		switch {
		case n > 0:
			err = nil
		case errors.Is(err, io.ErrClosedPipe): // of net.Pipe, which wraps nothing
			err = fmt.Errorf("%w: %w", net.ErrClosed, err)
		}
	})
	if stale != nil {
		return 0, stale
	}
	return n, err
}
