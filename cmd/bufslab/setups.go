package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/bufslab/bufslab/slab"
)

// A setup is a configuration as it was written and as it was read.
type setup struct {
	line   string
	config slab.Config
}

// plainLines are what is compared if nothing else is asked for.
func plainLines() (lines []string) {
	for _, strategy := range slab.Strategies() {
		lines = append(lines, "device=virtual,strategy="+strategy)
	}
	return append(lines, "device=virtual,strategy=slab,cache_bytes=0")
}

// setupsOf reads the lines of -config, or others if there are none, and names
// everything that is wrong with any of them.
func setupsOf(lines, others []string) ([]setup, error) {
	if len(lines) == 0 {
		lines = others
	}
	var setups []setup
	var faults []error
	for _, line := range lines {
		c, err := slab.ParseConfig(onVirtual(line))
		if err != nil {
			faults = append(faults, fmt.Errorf("-config %q: %w", line, err))
		}
		setups = append(setups, setup{line, c})
	}
	return setups, errors.Join(faults...)
}

// configOf reads a line, whose device is virtual unless it names another.
func configOf(line string) (slab.Config, error) {
	setups, err := setupsOf([]string{line}, nil)
	return setups[0].config, err
}

// overwritten names the lines that would record over a TRACE, before anything is opened.
func overwritten(setups []setup, paths []string) error {
	var faults []error
	for _, s := range setups {
		for _, path := range paths {
			if isTrace(s.config.Record, path) {
				faults = append(faults, fmt.Errorf("-config %q would record over the TRACE %s", s.line, path))
			}
		}
	}
	return errors.Join(faults...)
}

// isTrace reports whether a file is there that is TRACE, or the standard input if that is -.
func isTrace(file, path string) bool {
	f, err := os.Stat(file)
	if err != nil {
		return false
	}
	t, err := os.Stdin.Stat()
	if path != "-" {
		t, err = os.Stat(path)
	}
	return err == nil && os.SameFile(f, t)
}

// writes refuses, for tune and report, what would have each of the many replays write a file, perhaps
// TRACE itself. A reserve that is learned would be another one each time, too.
func writes(c slab.Config) error {
	switch {
	case c.Record != "":
		return fmt.Errorf("-config record=%s: each replay would write it; leave it out", c.Record)
	case strings.HasPrefix(c.Reserve, "learned:"):
		return fmt.Errorf("-config reserve=%s: each replay would write it; leave it out", c.Reserve)
	}
	return nil
}

// onVirtual returns a line or JSON with a device: what the other keys may be depends on it.
func onVirtual(line string) string { return onDevice(virtual, line) }

// onDevice returns a line or JSON with a device, which is name if it says none.
func onDevice(name, line string) string {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "{") {
		return jsonOnDevice(name, line)
	}
	for part := range strings.SplitSeq(line, ",") {
		if key, _, _ := strings.Cut(part, "="); strings.TrimSpace(key) == "device" {
			return line
		}
	}
	return strings.TrimSuffix("device="+name+","+line, ",")
}

// jsonOnDevice is onDevice of JSON. Of what is none ParseConfig says what is wrong.
func jsonOnDevice(name, text string) string {
	var keys map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &keys) != nil {
		return text
	}
	for key := range keys {
		if strings.EqualFold(key, "device") {
			return text
		}
	}
	device, err := json.Marshal(name)
	if err != nil {
		return text
	}
	keys["device"] = device
	with, err := json.Marshal(keys)
	if err != nil {
		return text
	}
	return string(with)
}

// virtual is the device of lines that name none.
const virtual = "virtual"
