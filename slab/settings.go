package slab

import (
	"github.com/bufslab/bufslab/device"
	"github.com/bufslab/bufslab/internal/pin"
)

// settings are a Config with its defaults filled in, and as it was given.
type settings struct {
	Config
	given      Config
	on         Allocator     // the argument of Open
	device     device.Device // to be closed with the pool, or nil
	processors int           // of a replay; 0: those of the machine
}

func (s *settings) closeDevice() error {
	if s.device == nil {
		return nil
	}
	return s.device.Close()
}

// replayed reports whether the pool is one of a replay.
func (s *settings) replayed() bool { return s.processors > 0 }

// cpus returns how many processors have caches.
func (s *settings) cpus() int {
	if s.replayed() {
		return s.processors
	}
	return pin.Numbers()
}

// profileRate is Config.ProfileRate, and 0 in a replay, which has to repeat.
func (s *settings) profileRate() int64 {
	if s.replayed() {
		return 0
	}
	return s.ProfileRate
}

// reuses reports whether a block may have a new owner without a visit to the strategy.
func (c *settings) reuses() bool { return !c.Zero && !c.Check }
