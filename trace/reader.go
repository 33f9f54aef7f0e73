package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
)

// A Reader reads a trace row by row. [Reader.Next] returns one row and
// [Reader.All] ranges over them. It checks that the trace could have happened:
// every free follows the one allocation of its id. So it remembers every id that
// it has seen. A row has at most 2,000 bytes, a key 200 and every other field 64. A last
// row without its newline is dropped, see [Reader.Warnings]. A Reader is for one
// goroutine at a time.
type Reader struct {
	file  string
	lines *rowReader
	rows  *csv.Reader    // of lines
	parse format         // of the rows; nil before the first
	line  int            // of the last row
	sizes map[uint64]int // by id: the bytes that are live, or freed
	first Kind           // of the first row: requests and allocations do not mix
	err   error          // that every Next returns from now on
}

// freed stands in Reader.sizes for ids that are free again.
const freed = -1

// NewReader returns a Reader of a trace. Its first bytes tell whether gzip has
// compressed it. The name of the file is for errors only.
func NewReader(rd io.Reader, file string) *Reader {
	r := &Reader{file: file, sizes: make(map[uint64]int)}
	plain, err := uncompressed(rd)
	if err != nil {
		r.err = r.syntaxError(0, err)
		return r
	}
	r.lines = &rowReader{from: plain}
	r.rows = csv.NewReader(r.lines)
	r.rows.ReuseRecord = true
	return r
}

// Warnings returns what was wrong and is no error, each with file and line. It is
// complete when Next has returned io.EOF.
func (r *Reader) Warnings() []string {
	if r.lines == nil || !r.lines.cut {
		return nil
	}
	return []string{fmt.Sprintf("trace: %s:%d: the row has no newline and was dropped: the file was cut short", r.file, r.lines.lines+1)}
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
	for r.err == nil {
		op, skip, err := r.row()
		if err == nil && !skip {
			return op, nil
		}
		r.err = err
	}
	return Op{}, r.err
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

// row reads one row; skip is true of rows that are no operation.
func (r *Reader) row() (op Op, skip bool, err error) {
	fields, err := r.rows.Read()
	if err != nil {
		return Op{}, false, r.readError(err)
	}
	r.line, _ = r.rows.FieldPos(0)
	if r.parse == nil {
		if r.parse, skip, err = formatOf(fields); err != nil || skip {
			return Op{}, skip, r.syntaxError(r.line, err)
		}
	}
	if op, skip, err = r.parse(fields); err == nil && !skip {
		err = r.check(&op)
	}
	return op, skip, r.syntaxError(r.line, err)
}

// check fails unless op may follow the rows before it. It fills in the size that
// a free leaves out.
func (r *Reader) check(op *Op) error {
	if r.first == 0 {
		r.first = op.Kind
	}
	if (op.Kind == Get) != (r.first == Get) {
		return ErrKeyed
	}
	if op.Kind == Get {
		return nil
	}
	size, known := r.sizes[op.ID]
	switch {
	case op.Kind == Alloc && known && size != freed:
		return fmt.Errorf("id %d allocated again: %w", op.ID, ErrReusedID)
	case op.Kind == Alloc:
		r.sizes[op.ID] = op.Size
		return nil
	case !known:
		return fmt.Errorf("id %d freed: %w", op.ID, ErrUnknownID)
	case size == freed:
		return fmt.Errorf("id %d: %w", op.ID, ErrDoubleFree)
	case op.Size != size && op.Size != noSize:
		return fmt.Errorf("id %d allocated with %d bytes, freed with %d: %w", op.ID, size, op.Size, ErrSize)
	}
	op.Size = size
	r.sizes[op.ID] = freed
	return nil
}

// readError adds the place to an error of the CSV or gzip reader.
func (r *Reader) readError(err error) error {
	var p *csv.ParseError
	switch {
	case err == io.EOF:
		return err
	case errors.As(err, &p):
		return r.syntaxError(p.Line, fmt.Errorf("%w: %w", ErrMalformed, p.Err))
	}
	return r.syntaxError(r.line+1, err)
}

// syntaxError adds the place to an error; nil stays nil.
func (r *Reader) syntaxError(line int, err error) error {
	if err == nil {
		return nil
	}
	return &SyntaxError{File: r.file, Line: line, Err: err}
}
