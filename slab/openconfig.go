package slab

import (
	"errors"

	"github.com/bufslab/bufslab/device"
	_ "github.com/bufslab/bufslab/device/sim" // so that Config.Device can name it
)

// OpenConfig opens the device that c names and a pool on it. Close closes both, the device when
// no buffer is active. From the device up the layers are always in this order:
//
//	device     Config.Device
//	limit      Config.MaxBytes
//	strategy   Config.Strategy
//	check      Config.Check
//	guard      Config.Guard, at the side of the strategy
//	caches     Config.CacheBytes
//	record     Config.Record, RecordLast
//
// A layer that c does not ask for is left out.
func OpenConfig(c Config) (*Pool, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	d, err := device.Open(c.deviceName())
	if err != nil {
		return nil, err
	}
	done := false
	defer func() {
		if !done { // a registered strategy has panicked
			_ = d.Close()
		}
	}()
	p, err := openOn(d, c, d)
	done = true
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return p, nil
}

// MustOpen is [OpenConfig] of a line, for main and for tests. It panics with the error: a
// *[ConfigError], or the device's error.
func MustOpen(line string) *Pool {
	c, err := ParseConfig(line)
	if err != nil {
		panic(err)
	}
	p, err := OpenConfig(c)
	if err != nil {
		panic(err)
	}
	return p
}

// OpenEnv is OpenConfig of the configuration in the environment; see
// [ConfigFromEnv].
func OpenEnv() (*Pool, error) {
	c, err := ConfigFromEnv()
	if err != nil {
		return nil, err
	}
	return OpenConfig(c)
}
