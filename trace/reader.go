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

// A Reader reads a trace row by row and checks that it could have happened:
// every free follows the one allocation of its id. It remembers every id that
// it has seen. A Reader is for one goroutine at a time.
type Reader struct {
	file  string
	rows  *csv.Reader
	parse format
	line  int            // of the last row
	sizes map[uint64]int // of live ids; freed where that has happened
	first Kind           // of the first row: requests and allocations do not mix
	err   error          // of every Next from now on
}

// freed stands in Reader.sizes for ids that are free again.
const freed = -1

// NewReader returns a Reader of a trace, compressed by gzip or not: that is
// told by its first bytes. The name of the file is for errors only.
func NewReader(r io.Reader, file string) *Reader {
	d := &Reader{file: file, sizes: make(map[uint64]int)}
	plain, err := uncompressed(r)
	if err != nil {
		d.err = d.fault(0, err)
		return d
	}
	d.rows = csv.NewReader(plain)
	d.rows.ReuseRecord = true
	return d
}

// uncompressed looks at the first bytes of r, not at its name.
func uncompressed(r io.Reader) (io.Reader, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	magic, _ := b.Peek(2) // an error shows up again at the first row
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return b, nil
	}
	return gzip.NewReader(b)
}

// Next returns the next row, io.EOF at the end, or a *[SyntaxError], and that
// from then on.
func (d *Reader) Next() (Op, error) {
	for d.err == nil {
		op, skip, err := d.row()
		if err == nil && !skip {
			return op, nil
		}
		d.err = err
	}
	return Op{}, d.err
}

// All ranges over the rows. It ends after the first error, which comes with
// the zero Op.
func (d *Reader) All() iter.Seq2[Op, error] {
	return func(yield func(Op, error) bool) {
		for {
			op, err := d.Next()
			if err == io.EOF || !yield(op, err) || err != nil {
				return
			}
		}
	}
}

// row reads one row; skip is true of rows that are no operation.
func (d *Reader) row() (op Op, skip bool, err error) {
	fields, err := d.rows.Read()
	if err != nil {
		return Op{}, false, d.csvFault(err)
	}
	d.line, _ = d.rows.FieldPos(0)
	if d.parse == nil {
		if d.parse, skip, err = formatOf(fields); err != nil || skip {
			return Op{}, skip, d.fault(d.line, err)
		}
	}
	if op, skip, err = d.parse(fields); err == nil && !skip {
		err = d.check(&op)
	}
	return op, skip, d.fault(d.line, err)
}

// check follows the life of the op's id. It fills in the size that a free
// leaves out.
func (d *Reader) check(op *Op) error {
	if d.first == 0 {
		d.first = op.Kind
	}
	if (op.Kind == Get) != (d.first == Get) {
		return ErrKeyed
	}
	if op.Kind == Get {
		return nil
	}
	size, known := d.sizes[op.ID]
	switch {
	case op.Kind == Alloc && known && size != freed:
		return fmt.Errorf("id %d allocated again: %w", op.ID, ErrReusedID)
	case op.Kind == Alloc:
		d.sizes[op.ID] = op.Size
		return nil
	case !known:
		return fmt.Errorf("id %d freed: %w", op.ID, ErrUnknownID)
	case size == freed:
		return fmt.Errorf("id %d: %w", op.ID, ErrDoubleFree)
	case op.Size != size && op.Size != unsaid:
		return fmt.Errorf("id %d allocated with %d bytes, freed with %d: %w", op.ID, size, op.Size, ErrSize)
	}
	op.Size = size
	d.sizes[op.ID] = freed
	return nil
}

// csvFault gives an error of the CSV or gzip reader a place.
func (d *Reader) csvFault(err error) error {
	var p *csv.ParseError
	switch {
	case err == io.EOF:
		return err
	case errors.As(err, &p):
		return d.fault(p.Line, fmt.Errorf("%w: %w", ErrMalformed, p.Err))
	}
	return d.fault(d.line+1, err)
}

func (d *Reader) fault(line int, err error) error {
	if err == nil {
		return nil
	}
	return &SyntaxError{File: d.file, Line: line, Err: err}
}
