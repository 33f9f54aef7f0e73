package inspect

import (
	"slices"
	"testing"

	"github.com/bufslab/bufslab/slab"
)

// The lines of Explain are taken apart, whatever a name has in it, and what is no option is a note.
func TestSettings(t *testing.T) {
	c := slab.Config{Device: "sim:64MiB", Strategy: "slab", MaxBytes: 32 << 20, Name: "two  spaces   and default"}
	list, notes := settingsOf(c.Explain() + "max_bytes is 5 bytes, of the machine\nwarning: slow\n")
	for _, want := range []setting{
		{"device", "sim:64MiB", "set by you"}, {"name", "two  spaces   and default", "set by you"},
		{"max_bytes", "32MiB", "set by you"}, {"cache_bytes", "64MiB", "default of slab"}, {"reserve", "none", "default"},
	} {
		if !slices.Contains(list, want) {
			t.Errorf("no %q in %q", want, list)
		}
	}
	if !slices.Equal(notes, []string{"max_bytes is 5 bytes, of the machine", "warning: slow"}) {
		t.Errorf("notes %q", notes)
	}
}
