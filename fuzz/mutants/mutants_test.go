package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The list is in step with the source: each text is there once, and changes.
func TestMutantsAreInTheSource(t *testing.T) {
	names := map[string]bool{}
	for _, m := range all() {
		if names[m.name] {
			t.Errorf("two mutants are named %s", m.name)
		}
		names[m.name] = true
		if _, err := m.mutate("../.."); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		if m.old == m.new || m.equivalent == "" && (m.pkg == "" || m.test == "") {
			t.Errorf("%s changes nothing, or nobody is to notice", m.name)
		}
	}
}

// A reason is found by the change, also by one to a bar.
func TestReasons(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lives.txt")
	want := change{file: "a.go", text: "if a|b == c | d {", old: "&", new: "|"}
	if err := os.WriteFile(name, []byte("A title.\n"+want.String()+" | it does nothing\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	reasons, err := judged(name)
	if err != nil || reasons[want.String()] != "it does nothing" {
		t.Errorf("%v, %q", err, reasons)
	}
}

// What lives with a reason is in the source: the line is there, and offers the change.
func TestReasonsAreOfTheSource(t *testing.T) {
	t.Chdir("../..")
	reasons, err := judged("fuzz/mutants/lives.txt")
	if err != nil {
		t.Fatal(err)
	}
	for c := range reasons {
		file, _, ok := strings.Cut(c, ": ")
		if !ok || !strings.HasSuffix(file, ".go") {
			continue // the title
		}
		offered, err := changesOf(file)
		if err != nil || !slices.ContainsFunc(offered, func(o change) bool { return o.String() == c }) {
			t.Errorf("%s: no such change, %v", c, err)
		}
	}
}
