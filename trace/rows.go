package trace

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

const (
	maxRow   = 2000 // bytes of a row, with its newline
	maxText  = 200  // of a key
	maxField = 64   // of every other field
)

// A rowReader passes whole rows on, for a csv.Reader, which would buffer a row of any
// length. What stands behind the last newline is a row that was cut short, by a kill as a
// rule. It may look like a row: a size that has lost digits is a size. So it is dropped.
type rowReader struct {
	from   *bufio.Reader
	rest   []byte // of a line
	bytes  int    // of the row so far: a quoted field may hold newlines
	quoted bool   // the row goes on in the next line
	lines  int    // that were read
	cut    bool   // a last row was dropped
}

func (r *rowReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// next reads a line.
func (r *rowReader) next() error {
	line, err := r.from.ReadSlice('\n')
	if r.bytes += len(line); r.bytes > maxRow {
		return fmt.Errorf("%w: a row of more than %d bytes", ErrMalformed, maxRow)
	}
	if err != nil {
		r.cut = err == io.EOF && len(line) > 0
		return err
	}
	r.rest = line
	r.lines++
	if bytes.Count(line, []byte{'"'})%2 == 1 {
		r.quoted = !r.quoted
	}
	if !r.quoted {
		r.bytes = 0
	}
	return nil
}

// checkLength refuses a field that is too long to be meant.
func checkLength(field string, most int) error {
	if len(field) > most {
		return fmt.Errorf("%w: a field of %d bytes, want at most %d", ErrMalformed, len(field), most)
	}
	return nil
}
