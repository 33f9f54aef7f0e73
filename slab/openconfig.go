package slab

import (
	"errors"

	"github.com/bufslab/bufslab/device"
	_ "github.com/bufslab/bufslab/device/sim" // so that Config.Device can name it
)

// OpenConfig opens the device that c names and a pool on it. Close closes
// both. From the device up the stack is always
//
//	device     Config.Device
//	limit      Config.MaxBytes
//	strategy   Config.Strategy
//	check      Config.Check
//	guard      Config.Guard, beside the strategy
//	caches     Config.CacheBytes
//	record     Config.Record, RecordLast
//	scopes     Config.Statistics
//
// and what is not asked for is left out.
func OpenConfig(c Config) (*Pool, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	d, err := device.Open(c.withDefaults().Device)
	if err != nil {
		return nil, err
	}
	p, err := Open(d, c)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	p.pool.config.device = d
	return p, nil
}

// MustOpen is [OpenConfig] of a line, for main and for tests. It panics with the error: a
// *[ConfigError], or that of the device.
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
