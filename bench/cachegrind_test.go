package main

import (
	"strings"
	"testing"
)

const output = `desc: I1 cache:         32768 B, 64 B, 8-way associative
desc: Timings: none
cmd: bench -one heap/W2 -turns 4
events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw
fl=???
fn=main.main
12 1000 1 0 300 2 0 100 1 0
summary: 1000 10 9 300 20 3 100 7 4
`

func TestCachegrindsOutputIsRead(t *testing.T) {
	got, err := caches.parse(strings.NewReader(output))
	if want := (count{Instructions: 1000, Data: 400, First: 27, Memory: 7}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

func TestOutputWithoutFiguresIsAnError(t *testing.T) {
	for fault, text := range map[string]string{
		"nothing":       "",
		"no summary":    strings.ReplaceAll(output, "summary", "totals"),
		"no events":     strings.ReplaceAll(output, "events", "counters"),
		"no data":       strings.ReplaceAll(output, "Dr ", "Xx "),
		"a total less":  strings.ReplaceAll(output, " 7 4\n", " 7\n"),
		"not a number":  strings.ReplaceAll(output, " 7 4\n", " 7 many\n"),
		"without cache": "events: Ir\nsummary: 1000\n",
	} {
		if got, err := caches.parse(strings.NewReader(text)); err == nil {
			t.Errorf("%s: %+v", fault, got)
		}
	}
}

func TestInstructionsAlone(t *testing.T) {
	got, err := noCaches.parse(strings.NewReader("events: Ir\nsummary: 1000\n"))
	if want := (count{Instructions: 1000}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

func TestStartUpCancels(t *testing.T) {
	short, long := count{Instructions: 5000, Data: 900}, count{Instructions: 15000, Data: 2900}
	if got, want := long.less(short).per(100), (count{Instructions: 100, Data: 20}); got != want {
		t.Errorf("%+v, not %+v", got, want)
	}
}

// What -count asks its copy for, the copy knows.
func TestWhatIsCountedCanBePlayed(t *testing.T) {
	defer func(n int) { evicted = n }(evicted)
	if err := playOne("heap/W1 4 KiB", 1); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"", "heap", "heap/W9", "nobody/W2"} {
		if playOne(name, 1) == nil {
			t.Errorf("%q is played", name)
		}
	}
}
