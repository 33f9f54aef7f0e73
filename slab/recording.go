package slab

import (
	"errors"
	"fmt"
	"io"
)

// WriteRecord writes the last Config.RecordLast events of the pool to w, as a trace that
// begins with what was live before them. It takes memory for all its rows, and the pool may
// be in use. It can be called again, also after Close. Without RecordLast the error wraps
// errors.ErrUnsupported.
func (p *Pool) WriteRecord(w io.Writer) error {
	r := p.opened().leaks.Record
	if p.pool.config.RecordLast == 0 {
		return fmt.Errorf("slab: WriteRecord without record_last: %w", errors.ErrUnsupported)
	}
	return r.WriteLast(w)
}
