package slab

import (
	"errors"
	"fmt"
	"io"
)

// WriteRecord writes the last Config.RecordLast events of the pool to w, as a trace that
// begins with the buffers that were live before them. It takes memory for all its rows. The
// pool may be in use. WriteRecord can be called again, also after Close. Without RecordLast the
// error wraps errors.ErrUnsupported.
func (p *Pool) WriteRecord(w io.Writer) error {
	r := p.opened().leaks.Record
	if p.pool.config.RecordLast == 0 {
		return fmt.Errorf("slab: WriteRecord without record_last: %w", errors.ErrUnsupported)
	}
	return r.WriteLast(w)
}

// The bits of a promise in a recording: see trace.Promise.
const (
	zeroedPromise  = 1
	pinnedPromise  = 2
	bySlicePromise = 4
)

// recordPromise records the promises of the pool from now on, if it promises more than every pool does.
func (l *lending) recordPromise() {
	bits := 0
	if l.config.Zero {
		bits |= zeroedPromise
	}
	if l.config.traits.locked {
		bits |= pinnedPromise
	}
	if align := l.promisedAlign(); bits != 0 || align != 0 {
		l.leaks.Record.Promise(align, bits)
	}
}

// promisedAlign returns the alignment that the program was promised by the Config, 0 for the default.
func (l *lending) promisedAlign() int { return l.config.given.Align }
