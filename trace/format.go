package trace

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A format makes an op of the fields of a row. It skips rows that are none.
type format func(fields []string) (op Op, skip bool, err error)

// unsaid is the size of a free that does not repeat it.
const unsaid = -1

// columns are those of a trace without a header, in order.
var columns = []string{"op", "id", "size", "key", "stream", "time_ns"}

// keyedColumns are those of a keyed trace without a header.
var keyedColumns = []string{"op", "key", "size", "stream", "time_ns"}

// rmmColumns are those of RMM's log.
var rmmColumns = []string{"Thread", "Time", "Action", "Pointer", "Size", "Stream"}

// formatOf takes the first row and says how to read the rest. It reports
// whether the row is a header, and so no operation.
func formatOf(first []string) (f format, header bool, err error) {
	switch {
	case slices.Equal(first, rmmColumns):
		return rmmRow, true, nil
	case first[0] == "op":
		f, err = named(slices.Clone(first))
		return f, true, err
	case first[0] == "g" && len(first) >= 3 && len(first) <= len(keyedColumns):
		f, err = named(keyedColumns[:len(first)])
		return f, false, err
	case len(first) < 3 || len(first) > len(columns):
		return nil, false, fmt.Errorf("%w: %d columns, want %s", ErrMalformed, len(first), strings.Join(columns, ","))
	}
	f, err = named(columns[:len(first)])
	return f, false, err
}

// named reads rows whose columns have these names.
func named(names []string) (format, error) {
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
	op.Size = unsaid
	named := false
	for i, text := range fields {
		is, err := op.parse(names[i], text)
		if err != nil {
			return op, fmt.Errorf("%w: %s %q: %w", ErrMalformed, names[i], text, err)
		}
		named = named || is
	}
	switch {
	case op.Kind == Get && (!named || op.Size < 1):
		err = fmt.Errorf("%w: op g wants a key and a size of 1 byte or more", ErrMalformed)
	case !named || op.Kind == Alloc && op.Size == unsaid:
		err = fmt.Errorf("%w: op %v wants an id and a size", ErrMalformed, op.Kind)
	}
	return op, err
}

// parse reads a column. It reports whether that is what names the op: the key of a
// Get, which has no id, or the id.
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

// parseSize takes an empty size for one that is not said.
func parseSize(text string) (int, error) {
	if text == "" {
		return unsaid, nil
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

// rmmRow reads a row of RMM's log. Failed allocations and null pointers,
// which stand for zero bytes, have no memory behind them and are skipped.
func rmmRow(fields []string) (op Op, skip bool, err error) {
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
