package main

import (
	"fmt"
	"strings"

	"github.com/bufslab/bufslab/slab"
	"github.com/bufslab/bufslab/trace"
)

// What the pools of recordings promised to their programs, every line that tune offers promises, too.

// defaultAlign is where every strategy has blocks of more than 256 bytes begin. Smaller ones begin at 16.
const defaultAlign = 16

// keepPromises adds to a base, of a line that tune searches from, what the pools of the traces promised, or says
// why it cannot.
func keepPromises(base string, traces []*trace.Trace) (string, error) {
	for _, t := range traces {
		c, err := configOf(base)
		if err != nil {
			return base, err
		}
		if why := breaks(t.Promise, c); why != "" {
			return base, fmt.Errorf("-config %q: %s %s", base, t.Name, why)
		}
		if base, err = withPromise(base, t.Promise, c); err != nil {
			return base, err
		}
	}
	return base, nil
}

// breaks says which promise a configuration breaks by what it says itself, or "".
func breaks(p trace.Promise, c slab.Config) string {
	switch {
	case c.Align != 0 && c.Align < p.Align:
		return fmt.Sprintf("is of a pool with align=%d", p.Align)
	case p.Pinned && c.Device != virtual && !strings.HasSuffix(c.Device, ":pinned"):
		return "is of a pool on page-locked memory: name a device that has it, or none"
	}
	return ""
}

// withPromise adds what a line does not say yet.
func withPromise(base string, p trace.Promise, c slab.Config) (string, error) {
	var more []string
	if p.Align > defaultAlign && c.Align == 0 {
		more = append(more, fmt.Sprintf("align=%d", p.Align))
	}
	if p.Zeroed && !c.Zero {
		more = append(more, "zero=true")
	}
	for _, option := range more {
		base = strings.TrimPrefix(base+","+option, ",")
	}
	if _, err := configOf(base); err != nil {
		return base, fmt.Errorf("the recording wants %s: %w", strings.Join(more, ","), err)
	}
	return base, nil
}
