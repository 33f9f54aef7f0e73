package main

import (
	"strings"
	"testing"

	"github.com/bufslab/bufslab/slab"
)

// promising is a recording of a pool that promised what a row says.
func promising(t *testing.T, row string) string {
	var b strings.Builder
	b.WriteString("op,id,size\n" + row + "\n")
	for i := range 400 {
		b.WriteString(strings.ReplaceAll("a,N,5000\ng,N,9000\nf,N,9000\n", "N", string(rune('0'+i%10))))
	}
	return file(t, b.String())
}

// No line is tried, and so none is offered, that promises less than the pool of the recording.
func TestLinesKeepWhatTheRecordedPoolPromised(t *testing.T) {
	for row, keeps := range map[string]func(slab.Config) bool{
		"p,256,0": func(c slab.Config) bool { return c.Align >= 256 },
		"p,0,1":   func(c slab.Config) bool { return c.Zero },
		"p,64,7":  func(c slab.Config) bool { return c.Align >= 64 && c.Zero },
		"p,16,0":  func(c slab.Config) bool { return c.Align == 0 },
	} {
		scores, found := tuned(t, promising(t, row))
		for line := range scores {
			if c, err := configOf(line); err != nil || !keeps(c) {
				t.Errorf("%s: %q, %v", row, line, err)
			}
		}
		if _, is := scores[found.Chosen.Config]; !is || len(scores) < 3 {
			t.Errorf("%s: %d lines, %q is chosen", row, len(scores), found.Chosen.Config)
		}
	}
}

// A base that breaks a promise is refused, with the reason.
func TestBasesThatBreakAPromise(t *testing.T) {
	for _, c := range []struct{ row, base, says string }{
		{"p,256,0", "align=64", "is of a pool with align=256"},
		{"p,256,0", "strategy=exact", "wants align=256"},
		{"p,0,2", "device=heap", "page-locked"},
	} {
		if code, _, stderr := command("tune", "-config", c.base, promising(t, c.row)); code != exitBad || !strings.Contains(stderr, c.says) {
			t.Errorf("%s on %q: exit %d: %s", c.row, c.base, code, stderr)
		}
	}
	if code, _, stderr := command("tune", "-config", "device=sim:1GiB:pinned", promising(t, "p,0,2")); code != exitOK {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
