package slab

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/bufslab/bufslab/device"
)

// OpenConfig opens the device that c names and a pool on it; Close closes both.
// The stack is always in this order, where what is not asked for is left out:
//
//	device    Config.Device
//	limit     Config.MaxBytes
//	ledger    counts what goes to the device
//	strategy  Config.Strategy
//	check     Config.Check
//	record    Config.Record: above check, so that it sees sizes as they were asked for
//	pool      caches and handles
//
// The error is a *[ConfigError] or tells why the device or the file of
// Config.Record could not be opened; nothing is left open then.
func OpenConfig(c Config) (*Pool, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	name := c.withDefaults().Device
	d, err := device.Open(name)
	if err != nil {
		return nil, fmt.Errorf("slab: device=%s: %w", name, err)
	}
	f, err := createRecord(c.Record)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	p, err := open(d, c, f.wrap)
	if err != nil {
		return nil, errors.Join(err, f.close(), d.Close())
	}
	p.c.onClose = func() error { return errors.Join(f.close(), d.Close()) }
	return p, nil
}

// A recordFile is the file of Config.Record, nil if there is none.
type recordFile struct {
	record *Record
	outer  []io.Closer // what the record writes to, innermost first
	writer io.Writer
}

// createRecord makes the file, which is compressed if its name ends in .gz.
func createRecord(path string) (*recordFile, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("slab: record=%s: %w", path, err)
	}
	if !strings.HasSuffix(path, ".gz") {
		return &recordFile{writer: f, outer: []io.Closer{f}}, nil
	}
	z := gzip.NewWriter(f)
	return &recordFile{writer: z, outer: []io.Closer{z, f}}, nil
}

// wrap puts the record above a.
func (f *recordFile) wrap(a Allocator) Allocator {
	if f == nil {
		return a
	}
	f.record = NewRecord(a, f.writer)
	return f.record
}

func (f *recordFile) close() error {
	if f == nil {
		return nil
	}
	var errs []error
	if f.record != nil {
		errs = append(errs, f.record.Close())
	}
	for _, c := range f.outer {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
