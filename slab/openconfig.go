package slab

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/bufslab/bufslab/device"
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
	p.c.onClose = append(p.c.onClose, d.Close)
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

// startRecord puts a Record that writes Config.Record over the strategy. The
// file is complete when the pool is closed.
func (k *core) startRecord(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	var w io.WriteCloser = f
	closers := []func() error{f.Close}
	if strings.HasSuffix(path, ".gz") {
		w = gzip.NewWriter(f)
		closers = []func() error{w.Close, f.Close}
	}
	r := NewRecord(k.strategy, w)
	k.strategy = r
	k.onClose = append(append(k.onClose, r.Close), closers...)
	return nil
}
