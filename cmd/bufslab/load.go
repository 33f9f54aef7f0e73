package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/schollz/progressbar/v3"

	"github.com/bufslab/bufslab/trace"
)

// load reads all traces, before anything runs: mistakes are told at once. Of no paths it
// is the shipped one.
func load(paths []string, stderr io.Writer) ([]*trace.Trace, error) {
	if len(paths) == 0 {
		t, err := shipped()
		return []*trace.Trace{t}, err
	}
	var traces []*trace.Trace
	for _, path := range paths {
		t, err := loadFile(path, stderr)
		if err != nil {
			return nil, err
		}
		warn(t.Warnings, stderr)
		traces = append(traces, t)
	}
	return traces, nil
}

// loadFile reads a trace below a bar that counts bytes of the file.
func loadFile(path string, stderr io.Writer) (*trace.Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	bar := newProgress(sizeOf(f), "loading "+shortName(path), stderr, progressbar.OptionShowBytes(true),
		progressbar.OptionShowCount())
	defer bar.clear()
	t, err := trace.Read(&counted{from: f, bar: bar}, path)
	if err == nil && t.Events() == 0 {
		err = noEvents(path)
	}
	return t, err
}

func noEvents(path string) error {
	return fmt.Errorf("trace: %s: %w", path, errors.New("there is no operation in it"))
}

// sizeOf returns the bytes of a file, or 0 of what is none.
func sizeOf(f *os.File) int64 {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// A counted shows how much of a file was read.
type counted struct {
	from io.Reader
	bar  progress
	n    int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	c.bar.set(c.n)
	return n, err
}

func warn(warnings []string, stderr io.Writer) {
	for _, w := range warnings {
		fmt.Fprintln(stderr, "bufslab: warning:", w)
	}
}

// labels are what traces are called in tables and JSON: the name of the file, or the
// path where several have that name.
func labels(traces []*trace.Trace) []string {
	times := map[string]int{}
	for _, t := range traces {
		times[shortName(t.Name)]++
	}
	var all []string
	for _, t := range traces {
		label := shortName(t.Name)
		if times[label] > 1 {
			label = t.Name
		}
		all = append(all, label)
	}
	return all
}

// shortName is a file's name without directory and extensions.
func shortName(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".gz"), ".csv")
}

// allocations fails unless all traces are of allocations.
func allocations(command string, traces []*trace.Trace) error {
	for _, t := range traces {
		if t.Keyed() {
			return fmt.Errorf("%s: %s is for allocations: %w", t.Name, command, trace.ErrKeyed)
		}
	}
	return nil
}

// arrowCSV is a recording of a program that reads a CSV of 300,000 rows with Apache Arrow, casts, filters, sorts and
// adds it up, and writes Parquet and Arrow files.
//
//go:embed arrow-csv.csv.gz
var arrowCSV []byte

func shipped() (*trace.Trace, error) {
	return trace.Read(bytes.NewReader(arrowCSV), "arrow-csv.csv.gz")
}
