package slab

import (
	"compress/gzip"
	"errors"
	"os"
	"strings"

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
//	record     Config.Record
//	caches     Config.CacheBytes
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
	p.pool.onClose = append(p.pool.onClose, d.Close)
	return p, nil
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

// recordTo returns a Record over a strategy that writes a file, and what completes the
// file at the end.
func recordTo(path string, strategy Allocator) (*Record, func() error, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, nil, err
	}
	if !strings.HasSuffix(path, ".gz") {
		r := NewRecord(strategy, f)
		return r, func() error { return errors.Join(r.Close(), f.Close()) }, nil
	}
	z := gzip.NewWriter(f)
	r := NewRecord(strategy, z)
	return r, func() error { return errors.Join(r.Close(), z.Close(), f.Close()) }, nil
}
