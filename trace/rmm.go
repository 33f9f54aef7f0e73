package trace

import (
	"errors"
	"fmt"

	"github.com/bufslab/bufslab/trace/internal/alloclog"
)

// rmmColumns are those of RMM's log.
var rmmColumns = []string{"Thread", "Time", "Action", "Pointer", "Size", "Stream"}

// An rmm parses the log of RMM's logging resource adaptor. Unlike [Import] it refuses a log
// whose frees do not follow from its allocations.
type rmm struct{ clock alloclog.DayClock }

// row parses a row. It skips failed allocations, and null pointers, which are allocations
// of zero bytes.
func (r *rmm) row(fields [][]byte, op *Op) (skip bool, err error) {
	for _, text := range fields {
		if err := checkLength(len(text), maxField); err != nil {
			return false, err
		}
	}
	op.TimeNS = r.clock.Since(string(fields[1]))
	switch action := string(fields[2]); action {
	case "allocate":
		op.Kind = Alloc
	case "free":
		op.Kind = Free
	case "allocate failure":
		return true, nil
	default:
		return false, fmt.Errorf("%w: action %q, want allocate, allocate failure or free", ErrMalformed, action)
	}
	pointer := fields[3]
	if string(pointer) == "(nil)" {
		return true, nil
	}
	if op.ID, err = parseOptional(pointer); err == nil {
		op.Stream, err = parseOptional(fields[5])
	}
	if err == nil {
		op.Thread, err = parseOptional(fields[0])
	}
	if err == nil {
		op.Size, err = parseSize(fields[4])
	}
	if err == nil && op.ID != 0 && op.Kind == Alloc && op.Size == noSize {
		err = errors.New("allocate wants a size")
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return op.ID == 0, err
}
