package trace

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A format parses the fields of a row. skip is true of rows that are no op.
type format func(fields []string) (op Op, skip bool, err error)

// noSize is the size of a free that does not repeat it.
const noSize = -1

// columns are those of a trace without a header, in order.
var columns = []string{"op", "id", "size", "key", "stream", "time_ns"}

// keyedColumns are those of a keyed trace without a header.
var keyedColumns = []string{"op", "key", "size", "stream", "time_ns"}

// rmmColumns are those of RMM's log.
var rmmColumns = []string{"Thread", "Time", "Action", "Pointer", "Size", "Stream"}

// formatOf returns the format of a trace by its first row, and whether that row
// is a header.
func formatOf(first []string) (f format, header bool, err error) {
	switch {
	case slices.Equal(first, rmmColumns):
		return rmmRow, true, nil
	case first[0] == "op":
		f, err = byColumns(slices.Clone(first))
		return f, true, err
	case first[0] == "g" && len(first) >= 3 && len(first) <= len(keyedColumns):
		f, err = byColumns(keyedColumns[:len(first)])
		return f, false, err
	case len(first) < 3 || len(first) > len(columns):
		return nil, false, fmt.Errorf("%w: %d columns, want %s", ErrMalformed, len(first), strings.Join(columns, ","))
	}
	f, err = byColumns(columns[:len(first)])
	return f, false, err
}

// byColumns returns the format of rows whose columns have these names.
func byColumns(names []string) (format, error) {
	for i, name := range names {
		if !slices.Contains(columns, name) || slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("%w: column %q, want each once of %s", ErrMalformed, name, strings.Join(columns, ","))
		}
	}
	return func(fields []string) (Op, bool, error) {
		op, err := parseRow(names, fields)
		return op, false, err
	}, nil
}

func parseRow(names, fields []string) (op Op, err error) {
	op.Size = noSize
	named := false
	for i, text := range fields {
		if err := checkLength(text, longest(names[i])); err != nil {
			return op, err
		}
		is, err := op.parse(names[i], text)
		if err != nil {
			return op, fmt.Errorf("%w: %s %q: %w", ErrMalformed, names[i], text, err)
		}
		named = named || is
	}
	switch {
	case op.Kind == Get && (!named || op.Size < 1):
		err = fmt.Errorf("%w: op g wants a key and a size of 1 byte or more", ErrMalformed)
	case !named || op.Kind == Alloc && op.Size == noSize:
		err = fmt.Errorf("%w: op %v wants an id and a size", ErrMalformed, op.Kind)
	}
	return op, err
}

// longest returns the most bytes that a field of the column may have.
func longest(column string) int {
	if column == "key" {
		return maxText
	}
	return maxField
}

// parse parses one column. named is true if the column names the op: the key of
// a Get, which has no id, or the id of an Alloc or a Free.
func (op *Op) parse(column, text string) (named bool, err error) {
	switch column {
	case "op":
		op.Kind, err = parseKind(text)
	case "id":
		if op.Kind == Get && text == "" {
			return false, nil
		}
		op.ID, err = strconv.ParseUint(text, 10, 64)
		return op.Kind != Get, err
	case "size":
		op.Size, err = parseSize(text)
	case "key":
		op.Key = text
		return op.Kind == Get, nil
	case "stream":
		op.Stream, err = parseOptional(text)
	case "time_ns":
		var ns uint64
		ns, err = parseOptional(text)
		op.TimeNS = int64(min(ns, math.MaxInt64))
	}
	return false, err
}

func parseKind(text string) (Kind, error) {
	if text != "a" && text != "f" && text != "g" {
		return 0, errors.New("want a, f or g")
	}
	return Kind(text[0]), nil
}

// parseSize returns noSize for an empty size.
func parseSize(text string) (int, error) {
	if text == "" {
		return noSize, nil
	}
	n, err := strconv.Atoi(text)
	if err == nil && n < 0 {
		err = strconv.ErrRange
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrSize, err)
	}
	return n, err
}

func parseOptional(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	return strconv.ParseUint(text, 0, 64)
}

// rmmRow parses a row of RMM's log. It skips failed allocations, and null
// pointers, which are allocations of zero bytes.
func rmmRow(fields []string) (op Op, skip bool, err error) {
	for _, text := range fields {
		if err := checkLength(text, maxField); err != nil {
			return op, false, err
		}
	}
	action, pointer, stream := fields[2], fields[3], fields[5]
	switch action {
	case "allocate":
		op.Kind = Alloc
	case "free":
		op.Kind = Free
	case "allocate failure":
		return op, true, nil
	default:
		return op, false, fmt.Errorf("%w: action %q, want allocate, allocate failure or free", ErrMalformed, action)
	}
	if pointer == "(nil)" {
		return op, true, nil
	}
	if op.ID, err = strconv.ParseUint(pointer, 0, 64); err == nil {
		op.Stream, err = parseOptional(stream)
	}
	if err == nil {
		op.Size, err = parseSize(fields[4])
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return op, op.ID == 0, err
}
