package unified

import (
	"errors"

	"github.com/bufslab/bufslab/device"
)

// A use is work on a stream that may not be done: a copy or fill of ours, or work
// of the caller on the device side. An access waits for a use if it needs elements
// that the use writes, or writes elements that the use reads or writes.
type use struct {
	stream device.Stream
	event  device.Event // nil while the caller may still add to the work
	lo, hi int          // elements
	reads  [2]bool      // which sides
	writes [2]bool
	err    error // of the work, once it is known
	ours   bool
	before []span // of ours: the states that are true again if the work fails
	after  State  // the state that was given instead
}

// meets reports whether the use is about some of the elements.
func (u *use) meets(lo, hi int) bool { return max(u.lo, lo) < min(u.hi, hi) }

// touches reports whether an access that reads some elements of a side, or also
// writes them, has to wait for the use.
func (u *use) touches(lo, hi int, d side, writes bool) bool {
	return u.meets(lo, hi) && (u.writes[d] || writes && u.reads[d])
}

// close says that the work enqueued so far is all.
func (u *use) close() (err error) {
	if u.event == nil {
		u.event, err = u.stream.Record()
	}
	return err
}

// over reports whether the work has ended, with or without an error.
func (u *use) over() bool { return u.close() != nil || u.event.Done() }

// sync waits for the work and returns its error, once and for all.
func (u *use) sync() error {
	if u.err != nil {
		return u.err
	}
	if u.close() == nil {
		u.err = u.event.Sync()
		return u.err
	}
	// A stream that no longer records has failed, or was closed. To close it
	// waits for its work.
	if err := u.stream.Sync(); !errors.Is(err, device.ErrClosed) {
		u.err = err
	}
	return u.err
}
