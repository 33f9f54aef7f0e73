package growpool

import (
	"errors"
	"fmt"
	"time"
)

// Config tunes a [Pool]. Its zero value works: buffers are as large as the
// largest request, and stay.
type Config struct {
	// Growth says how large a buffer becomes that has to; nil is Exact.
	Growth Growth
	// MaxBytes bounds what the pool holds: the bytes of the keys' buffers, of
	// leases and of a buffer being made, never more for a moment. In budgets
	// that are large beside what the bookkeeping takes, that is counted too,
	// see [Usage]. A cache decides which keys keep their buffers; a View of
	// a key that may not is the caller's alone, and so is every View of a
	// buffer that its key has lost: the collector takes that memory, a lease's goes back
	// at once. 0 is no bound.
	MaxBytes int64
	// GCValve has the collector run whenever so many bytes that Get has shown
	// were left to it, as it knows nothing of the budget. 0 is MaxBytes, and
	// never without a budget; -1 is never.
	GCValve int64
	// IdleAfter is the time after which a key that nobody asked for loses its
	// buffer. 0 is never. It happens up to a quarter later.
	IdleAfter time.Duration
	// Private has Acquire of a leased key take a buffer for that lease only,
	// which goes back to the slab.Pool with it, instead of wait.
	Private bool
}

// Validate names everything that is wrong with c in one error.
func (c Config) Validate() error {
	var faults []error
	if c.MaxBytes < 0 {
		faults = append(faults, fmt.Errorf("MaxBytes %d: want 0 or more", c.MaxBytes))
	}
	if c.GCValve < -1 {
		faults = append(faults, fmt.Errorf("GCValve %d: want -1 or more", c.GCValve))
	}
	if c.IdleAfter < 0 {
		faults = append(faults, fmt.Errorf("IdleAfter %v: want 0 or more", c.IdleAfter))
	}
	return errors.Join(faults...)
}
