package trace

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A format parses the fields of a row.
type format func(fields [][]byte, op *Op) error

// oldStep is the op of rows that older recordings have; a Reader leaves them out.
const oldStep Kind = 's'

// noSize is the size of a free that does not repeat it.
const noSize = -1

// columns are those of a trace without a header, in order. A column is a place in it.
var columns = []string{"op", "id", "size", "key", "stream", "thread", "time_ns"}

type column int

const (
	colOp column = iota
	colID
	colSize
	colKey
	colStream
	colThread
	colTime
)

// keyedColumns are those of a keyed trace without a header.
var keyedColumns = []string{"op", "key", "size", "stream", "thread", "time_ns"}

// formatOf returns the format of a trace by its first row, and whether that row
// is a header.
func formatOf(first [][]byte) (f format, header bool, err error) {
	names := make([]string, len(first))
	for i, field := range first {
		names[i] = string(field)
	}
	switch {
	case len(names[0]) > 1 && slices.Contains(names, "op"): // a row has a letter there
		f, err = byColumns(names)
		return f, true, err
	case names[0] == "g" && len(names) >= 3 && len(names) <= len(keyedColumns):
		f, err = byColumns(keyedColumns[:len(names)])
		return f, false, err
	case len(names) < 3 || len(names) > len(columns):
		return nil, false, fmt.Errorf("%w: %d columns, want %s", ErrMalformed, len(names), strings.Join(columns, ","))
	}
	f, err = byColumns(columns[:len(names)])
	return f, false, err
}

// A place is where the fields of a column stand.
type place struct {
	column
	at int
}

// byColumns returns the format of rows whose columns have these names. The op is parsed first, wherever it stands: what
// an id and a key are depends on it.
func byColumns(names []string) (format, error) {
	var order []place
	for i, name := range names {
		c := column(slices.Index(columns, name))
		if c < 0 || slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("%w: column %q, want each once of %s", ErrMalformed, name,
				strings.Join(columns, ","))
		}
		order = append(order, place{c, i})
	}
	slices.SortFunc(order, func(a, b place) int { return int(a.column - b.column) })
	return func(fields [][]byte, op *Op) error { return op.parseRow(order, fields) }, nil
}

func (op *Op) parseRow(order []place, fields [][]byte) error {
	op.Size = noSize
	named := false
	for _, p := range order {
		c, text := p.column, fields[p.at]
		if len(text) > maxField {
			if err := checkLength(len(text), c.longest()); err != nil {
				return err
			}
		}
		is, err := op.parse(c, text)
		if err != nil {
			return fmt.Errorf("%w: %s %q: %w", ErrMalformed, columns[c], text, err)
		}
		named = named || is
	}
	switch {
	case op.Kind == oldStep:
		return nil
	case op.Kind == On && named:
		*op = Op{Kind: On, Key: op.Key}
	case op.Kind == Get && (!named || op.Size < 1):
		return fmt.Errorf("%w: op g wants an id and a size, or a key and a size of 1 byte or more", ErrMalformed)
	case !named || op.Kind != Free && op.Size == noSize:
		return fmt.Errorf("%w: op %v wants an id and a size", ErrMalformed, op.Kind)
	}
	return nil
}

// longest returns the most bytes that a field of the column may have.
func (c column) longest() int {
	if c == colKey {
		return maxText
	}
	return maxField
}

// parse parses one column. named is true if the column names the op: the key of a Get, or the
// id of any other. An id makes a Grow of op g.
func (op *Op) parse(c column, text []byte) (named bool, err error) {
	switch c {
	case colOp:
		op.Kind, err = parseKind(text)
	case colID:
		if (op.Kind == Get || op.Kind == oldStep) && len(text) == 0 {
			return false, nil
		}
		switch op.Kind {
		case Get:
			op.Kind = Grow
		case On:
			op.Key = string(text)
			return len(text) > 0, nil
		}
		op.ID, err = parseUint(text)
		return true, err
	case colSize:
		op.Size, err = parseSize(text)
	case colKey:
		if op.Kind != On {
			op.Key = string(text)
		}
		return op.Kind == Get, nil
	case colStream:
		op.Stream, err = parseOptional(text)
	case colThread:
		op.Thread, err = parseOptional(text)
	case colTime:
		var ns uint64
		ns, err = parseOptional(text)
		op.TimeNS = int64(min(ns, math.MaxInt64))
	}
	return false, err
}

func parseKind(text []byte) (Kind, error) {
	if len(text) != 1 || strings.IndexByte("adfgps", text[0]) < 0 {
		return 0, errors.New("want a, d, f, g or p")
	}
	return Kind(text[0]), nil
}

// parseUint parses a decimal number.
func parseUint(text []byte) (uint64, error) {
	if len(text) == 0 || len(text) > 19 { // 19 digits are within 64 bits
		return strconv.ParseUint(string(text), 10, 64)
	}
	var n uint64
	for _, c := range text {
		if c -= '0'; c > 9 {
			return strconv.ParseUint(string(text), 10, 64)
		}
		n = 10*n + uint64(c)
	}
	return n, nil
}

// parseSize returns noSize for an empty size.
func parseSize(text []byte) (int, error) {
	if len(text) == 0 {
		return noSize, nil
	}
	if n, err := parseUint(text); err == nil && n <= math.MaxInt {
		return int(n), nil
	}
	n, err := strconv.Atoi(string(text))
	if err == nil && n < 0 {
		err = strconv.ErrRange
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrSize, err)
	}
	return n, err
}

// parseOptional parses a number that may have a prefix such as 0x; nothing is 0.
func parseOptional(text []byte) (uint64, error) {
	if len(text) == 0 {
		return 0, nil
	}
	return strconv.ParseUint(string(text), 0, 64)
}
