//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package iobuf

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/bufslab/bufslab/slab"
)

// readReady reads a first piece, as the system does not tell when bytes have come.
func readReady(c syscall.Conn, p *slab.Pool, n int) (slab.PooledBuffer, error) {
	r, ok := c.(io.Reader)
	if !ok {
		return none, fmt.Errorf("iobuf: ReadReady of what has no Read: %w", errors.ErrUnsupported)
	}
	return readPiece(r, p, n)
}
