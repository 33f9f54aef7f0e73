package main

import (
	"slices"
	"testing"

	systemcheck "github.com/bufslab/bufslab/internal/check"
)

func TestLargestKnot(t *testing.T) {
	for _, c := range []struct {
		name string
		uses uses
		want []string
	}{
		{"nothing", uses{}, nil},
		{"a line", uses{"a": {"b": 1}, "b": {"c": 1}, "c": {}}, []string{"c"}},
		{"a ring with a tail", uses{"a": {"b": 1}, "b": {"c": 1}, "c": {"a": 1, "d": 2}, "d": {}}, []string{"a", "b", "c"}},
		{"two rings, one way between them", uses{"a": {"b": 1}, "b": {"a": 1, "c": 1}, "c": {"d": 1}, "d": {"e": 1}, "e": {"c": 1}}, []string{"c", "d", "e"}},
		{"rings that share a file", uses{"a": {"b": 1}, "b": {"a": 1, "c": 1}, "c": {"b": 1}}, []string{"a", "b", "c"}},
	} {
		if got := largestKnot(c.uses); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Package knotted is a ring of two files, by a method and a field, and a third one that uses both.
func TestLoadFindsWhatFilesUse(t *testing.T) {
	systemcheck.GoCommand(t)
	list, err := load([]string{"./testdata/knotted"})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d packages, %v", len(list), err)
	}
	p := list[0]
	if got := largestKnot(p.uses); !slices.Equal(got, []string{"field.go", "method.go"}) {
		t.Errorf("the knot is %v in %v", got, p.uses)
	}
	if p.uses["user.go"]["field.go"] != 3 || p.uses["field.go"]["user.go"] != 0 {
		t.Errorf("uses are %v", p.uses)
	}
	if p.names != 2 || p.methods != 1 || p.fields != 1 || len(p.uses) != 3 {
		t.Errorf("%d names, %d methods, %d fields, %d files", p.names, p.methods, p.fields, len(p.uses))
	}
}

func TestRunFailsAboveTheBound(t *testing.T) {
	systemcheck.GoCommand(t)
	if err := run([]string{"./testdata/knotted"}, 2, false); err != nil {
		t.Error(err)
	}
	if err := run([]string{"./testdata/knotted"}, 1, true); err == nil {
		t.Error("a knot of two passes a bound of one")
	}
}
