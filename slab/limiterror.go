package slab

import (
	"fmt"

	"github.com/bufslab/bufslab/device"
)

// A LimitError says that a [Limit] had no room; it wraps [device.ErrOutOfMemory]. If Asked is more than
// Promised leaves of Max, there is no room until a promise ends.
type LimitError struct {
	Max, InUse, Asked int64 // bytes
	Promised          int64 // of InUse: to others, used or not (see Limit.Within)

	limit *Limit
}

func (e *LimitError) Error() string {
	promised := ""
	if e.Promised > 0 {
		promised = fmt.Sprintf(", %d of these promised to others", e.Promised)
	}
	return fmt.Sprintf("slab: limit of %d bytes, %d in use%s, %d asked: %v",
		e.Max, e.InUse, promised, e.Asked, device.ErrOutOfMemory)
}

// Unwrap returns device.ErrOutOfMemory.
func (e *LimitError) Unwrap() error { return device.ErrOutOfMemory }
