package slab

import (
	"strings"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// What guard and check find as a pool closes is logged when Close returns: a program may end then, as one whose main
// defers Close. The logger is called on another goroutine otherwise, which is late in most of these rounds.
func TestCloseHasLoggedWhatItFinds(t *testing.T) {
	for line, want := range map[string]string{
		"device=heap,guard=1": "a use at offset 7", "device=heap,check": "something wrote at offset 7", "device=mmap,check": "something wrote at offset 7",
	} {
		for range 20 {
			p, log := openLogged(t, line)
			writeAfterRelease(t, p, 5000, 7)
			if err := p.Close(); err == nil {
				t.Errorf("%s: Close has found nothing", line)
			}
			if _, text := log.warnings(); strings.Count(text, want) != 1 {
				t.Fatalf("%s: when Close returns the log has: %s", line, text)
			}
		}
	}
	p, log := openLogged(t, "check,guard=1")
	check.Must(t, mustGet(t, p, 5000).Release())
	check.Must(t, p.Close())
	if _, text := log.warnings(); text != "" {
		t.Error(text)
	}
}
