package main

import (
	"strings"
	"testing"
)

const output = `desc: Timings: none
cmd: bench -one heap/W2 -ops 4
events: Ir
fl=???
fn=main.main
12 1000
summary: 1000
`

func TestCachegrindsOutputIsRead(t *testing.T) {
	if got, err := instructions(strings.NewReader(output)); err != nil || got != 1000 {
		t.Error(got, err)
	}
	for fault, text := range map[string]string{
		"nothing":      "",
		"no summary":   strings.ReplaceAll(output, "summary", "totals"),
		"other events": strings.ReplaceAll(output, "events: Ir", "events: Ir Dr"),
		"not a number": strings.ReplaceAll(output, "summary: 1000", "summary: many"),
	} {
		if got, err := instructions(strings.NewReader(text)); err == nil {
			t.Errorf("%s: %d", fault, got)
		}
	}
}

// What -count asks its copy for, the copy knows.
func TestWhatIsCountedCanBePlayed(t *testing.T) {
	for _, pool := range append(names(), "harness") {
		if err := playOne(pool+"/W1", 1); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "heap", "heap/W9"} {
		if playOne(name, 1) == nil {
			t.Errorf("%q is played", name)
		}
	}
}
