package main

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
	"github.com/bufslab/bufslab/slab"
)

// fieldsOf returns the names of the fields that docs/json.md lists in table n of a section, in order.
func fieldsOf(t *testing.T, section string, n int) (names []string) {
	t.Helper()
	text := string(check.Ok(os.ReadFile("../../docs/json.md"))(t))
	_, rest, found := strings.Cut(text, "\n## "+section+"\n")
	if !found {
		t.Fatalf("docs/json.md has no section %q", section)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	table := strings.Split(rest, "|---|---|\n")[n]
	for _, row := range regexp.MustCompile(`(?m)^\| ([a-z_, ]+) \|`).FindAllStringSubmatch(table, -1) {
		if row[1] != "field" {
			names = append(names, strings.Split(row[1], ", ")...)
		}
	}
	return names
}

// keysOf returns the names of an object, in order.
func keysOf(t *testing.T, line string) (names []string) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(line))
	check.Ok(d.Token())(t)
	for d.More() {
		names = append(names, check.Ok(d.Token())(t).(string))
		var skipped json.RawMessage
		check.Must(t, d.Decode(&skipped))
	}
	return names
}

// Each command prints the fields that docs/json.md lists, in that order.
func TestJSONIsAsDocumented(t *testing.T) {
	stats := statsFile(t, slab.Stats{PeakManagedBytes: 1})
	for _, c := range []struct {
		section    string
		table      int
		args       []string
		fromTheEnd bool
	}{
		{"replay", 1, []string{"replay", "-json", "-config", "strategy=slab", file(t, small)}, false},
		{"replay of a keyed TRACE", 1, []string{"replay", "-json", file(t, keyedSmall)}, false},
		{"tune", 1, []string{"tune", "-json", file(t, small)}, false},
		{"tune", 2, []string{"tune", "-json", file(t, small)}, true},
		{"verify", 1, []string{"verify", "-json", "strategy=slab", stats, file(t, small)}, false},
	} {
		code, out, stderr := command(c.args...)
		if code != exitOK {
			t.Fatalf("%q: exit %d: %s", c.args, code, stderr)
		}
		lines := strings.Split(strings.TrimSpace(out), "\n")
		line := lines[0]
		if c.fromTheEnd {
			line = lines[len(lines)-1]
		}
		if got, want := keysOf(t, line), fieldsOf(t, c.section, c.table); !slices.Equal(got, want) {
			t.Errorf("%s prints\n%q, docs/json.md has\n%q", c.section, got, want)
		}
	}
	// A device leaves fields out, so its type is looked at.
	var got []string
	of := reflect.TypeFor[place]()
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		got = append(got, name)
	}
	if want := fieldsOf(t, "devices", 1); !slices.Equal(got, want) {
		t.Errorf("devices prints %q, docs/json.md has %q", got, want)
	}
}
