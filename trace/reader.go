package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"iter"
)

// A Reader reads a trace row by row. [Reader.Next] returns one row and
// [Reader.All] ranges over them. It checks that the trace could have happened:
// every free follows the one allocation of its id. It remembers what is live and no
// more. A row has at most 2,000 bytes, a key 200 and every other field 64. A last
// row without its newline is dropped, but where it is the only one: without a header or a row a file is no trace. So is
// what a cut compressed file lacks: see [Reader.Warnings]. A Reader is for one goroutine at a time.
type Reader struct {
	file  string
	rows  scanner
	width int    // fields of each row
	parse format // of the rows; nil before the first
	live  table
	first Kind  // of the first row: requests and allocations do not mix
	err   error // that every Next returns from now on
}

// NewReader returns a Reader of a trace. Its first bytes tell whether gzip has
// compressed it. The name of the file is for errors only.
func NewReader(rd io.Reader, file string) *Reader {
	r := &Reader{file: file, live: table{slots: make(map[uint64]uint32)}}
	plain, err := uncompressed(rd)
	if err != nil {
		r.err = r.syntaxError(0, err)
	}
	r.rows.from = plain
	return r
}

// Warnings returns what was wrong and is no error, each with file and line. It is
// complete when Next has returned io.EOF.
func (r *Reader) Warnings() []string {
	what := "the compressed file was cut short, and rows from here on are missing"
	switch {
	case r.rows.cut:
		what = "the row has no newline and was dropped: the file was cut short"
	case !r.rows.torn:
		return nil
	}
	return []string{fmt.Sprintf("trace: %s:%d: %s", r.file, r.rows.lines+1, what)}
}

// uncompressed tells by the first bytes of rd whether to decompress it.
func uncompressed(rd io.Reader) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(rd, 1<<16)
	magic, _ := b.Peek(2) // an error shows up again at the first row
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return b, nil
	}
	z, err := gzip.NewReader(b)
	return bufio.NewReaderSize(z, 1<<16), err
}

// Next returns the next row, io.EOF at the end, or a *[SyntaxError]. After an
// error it returns the same one again.
func (r *Reader) Next() (Op, error) {
	var op Op
	_, err := r.next(&op)
	return op, err
}

// next reads the next op and returns its slot, which is 0 for a Get, a Pledge or an On. After an error op
// is zero.
func (r *Reader) next(op *Op) (slot uint32, err error) {
	for r.err == nil {
		*op = Op{}
		slot, skip, err := r.row(op)
		if err == nil && !skip {
			return slot, nil
		}
		r.err = err
	}
	*op = Op{}
	return 0, r.err
}

// All ranges over the rows. It ends after the first error, which comes with
// the zero Op.
func (r *Reader) All() iter.Seq2[Op, error] {
	return func(yield func(Op, error) bool) {
		for {
			op, err := r.Next()
			if err == io.EOF || !yield(op, err) || err != nil {
				return
			}
		}
	}
}

// row reads one row; skip reports that it is no op.
func (r *Reader) row(op *Op) (slot uint32, skip bool, err error) {
	if err := r.rows.next(); err != nil {
		return 0, false, r.readError(err)
	}
	fields := r.rows.fields
	if r.parse == nil {
		r.width = len(fields)
		if r.parse, skip, err = formatOf(fields); err != nil || skip {
			return 0, skip, r.syntaxError(r.rows.line, err)
		}
	}
	if len(fields) != r.width {
		err = fmt.Errorf("%w: %d fields, want %d", ErrMalformed, len(fields), r.width)
	} else if err = r.parse(fields, op); err == nil && op.Kind != oldStep {
		slot, err = r.check(op)
	}
	return slot, op.Kind == oldStep, r.syntaxError(r.rows.line, err)
}

// check fails unless op may follow the rows before it. It fills in the size that
// a free leaves out.
func (r *Reader) check(op *Op) (slot uint32, err error) {
	if op.Kind == Grow && op.Key != "" && (r.first == 0 || r.first == Get) {
		op.Kind, op.ID = Get, 0 // older files may have ids there, which meant nothing
	}
	if op.Kind == Pledge || op.Kind == On {
		return 0, nil
	}
	if r.first == 0 {
		r.first = op.Kind
	}
	switch {
	case (op.Kind == Get) != (r.first == Get):
		return 0, ErrKeyed
	case op.Kind == Alloc:
		return r.live.alloc(op.ID, op.Size)
	case op.Kind == Grow:
		return r.live.grow(op.ID, op.Size)
	case op.Kind == Free:
		slot, op.Size, err = r.live.release(op.ID, op.Size)
	}
	return slot, err
}

// readError adds the place to an error of reading.
func (r *Reader) readError(err error) error {
	switch {
	case err == io.EOF && r.parse == nil:
		return r.syntaxError(r.rows.lines+1, errNoRow)
	case err == io.EOF:
		return err
	}
	return r.syntaxError(r.rows.line, err)
}

// errNoRow says that a file, which may be of anything, has not even a header.
var errNoRow = fmt.Errorf("%w: no whole row, want at least the header op,id,size", ErrMalformed)

// syntaxError adds the place to an error; nil stays nil.
func (r *Reader) syntaxError(line int, err error) error {
	if err == nil {
		return nil
	}
	return &SyntaxError{File: r.file, Line: line, Err: err}
}
