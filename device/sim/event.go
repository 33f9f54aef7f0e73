package sim

import (
	"time"

	"github.com/bufslab/bufslab/device"
)

var _ device.Event = (*event)(nil)

// An event is a moment of a stream, known when it is recorded.
type event struct {
	dev    *Device
	of     *progress // of its stream
	number uint64
	at     time.Duration
}

// Done moves the clock on while it is false, so that a loop that polls it ends.
func (e *event) Done() bool {
	d := e.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tick()
	done := e.at <= d.now || d.lost != nil
	if !done {
		d.reach(later(d.now, pollTime))
	}
	return done
}

func (e *event) Sync() error {
	d := e.dev
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tick()
	d.reach(e.at)
	return e.err()
}

// err is the error of the work before, once the clock has got there. The
// caller holds the device's mu.
func (e *event) err() error {
	if e.of.failed(e.number) {
		return e.of.err
	}
	return nil
}
