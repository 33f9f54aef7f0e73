package main

import (
	"io"
	"testing"
)

// Serve looks at all that was written, and Close of a pool reports what is out.
func TestTokensStayAsTheyWereWritten(t *testing.T) {
	lengths := randomLengths(2*atOnce+3, 60)
	costs := map[string]cost{}
	for _, v := range variants {
		c, err := v.serve(lengths)
		if err != nil {
			t.Errorf("%s: %v", v.name, err)
		}
		costs[v.name] = c
	}
	total := -len(lengths)
	for _, n := range lengths {
		total += n
	}
	for name, c := range costs {
		if c.grown != total {
			t.Errorf("%s: %d growths of %d", name, c.grown, total)
		}
	}
	if a, b := costs["Grow"], costs["doubling"]; a.copied >= b.copied || a.copies >= b.copies {
		t.Errorf("Grow copied %d bytes in %d growths, doubling %d in %d", a.copied, a.copies, b.copied, b.copies)
	}
}

func TestRun(t *testing.T) {
	if err := run(io.Discard, randomLengths(3, 20)); err != nil {
		t.Error(err)
	}
}
