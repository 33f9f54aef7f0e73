package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/internal/check"
)

// The seeds are in step with the source: each old text is there once.
func TestSeedsAreInTheSource(t *testing.T) {
	all, err := parse(seedsText)
	if err != nil {
		t.Fatal(err)
	}
	titles := map[string]bool{}
	for _, s := range all {
		if titles[s.title] {
			t.Errorf("two seeds are titled %q", s.title)
		}
		titles[s.title] = true
		if _, err := s.mutate("../.."); err != nil {
			t.Error(err)
		}
	}
	if len(all) > 100 {
		t.Errorf("%d seeds: for a new one an old one goes", len(all))
	}
}

// What would try nothing, or something else than was meant, is refused: it would look as if all had been noticed.
func TestMisuse(t *testing.T) {
	for _, c := range []struct {
		says         string
		isRandom     bool
		tokens, jobs int
		fast         bool
		args         string
	}{
		{"", false, 0, 1, true, "room"}, {"", false, 0, 2, false, ""}, {"", true, 1, 1, false, "slab vet"},
		{"-jobs 0", false, 0, 0, false, ""}, {"-random 0", true, 0, 1, false, "slab"}, {"-random -3", true, -3, 1, false, ""},
		{"-fast", true, 1, 1, true, ""}, {`["room" "-fast"]`, false, 0, 1, false, "room -fast"},
	} {
		err := misused(c.isRandom, c.tokens, c.jobs, c.fast, strings.Fields(c.args))
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if good, err := seeded("^no seed is called so$", false, 1); good || err == nil {
		t.Errorf("no seed was tried: %v, %v", good, err)
	}
}

// A seed has all its parts, and an error names the seed.
func TestParse(t *testing.T) {
	const text = "What this is.\n\nlimit: a title\nin a.go\n- \tif a {\n- b\n+  c\ntest slab TestA|TestB race fast\n"
	all, err := parse(text)
	want := seed{"limit: a title", "a.go", "\tif a {\nb", " c", tests{"slab", "TestA|TestB", true}, true}
	if err != nil || len(all) != 1 || all[0] != want {
		t.Errorf("%+v, %v", all, err)
	}
	for _, cut := range []string{"in a.go\n", "- \tif a {\n- b\n", "test slab TestA|TestB race fast\n", "in "} {
		_, err := parse(strings.Replace(text, cut, "", 1))
		if err == nil || !strings.Contains(err.Error(), "limit: a title") {
			t.Errorf("without %q: %v", cut, err)
		}
	}
}

// A seed whose text has changed is named, with the text and the file.
func TestASeedThatIsNotInTheSource(t *testing.T) {
	for _, old := range []string{"no such text", "package"} { // none, and several
		_, err := seed{title: "a title", file: "main.go", old: old}.mutate(".")
		if err == nil || !strings.Contains(err.Error(), "a title") || !strings.Contains(err.Error(), "main.go") {
			t.Errorf("%q: %v", old, err)
		}
	}
}

// Packages are those of all modules that have tests.
func TestPackages(t *testing.T) {
	check.GoCommand(t)
	t.Chdir("../..")
	all, err := packages(nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(all["vet"], "analyzer.go") || !slices.Contains(all["slab/internal/percpu"], "cache.go") {
		t.Errorf("%v", all)
	}
	if all["vet/testdata/wrong"] != nil || all["fuzz/internal/draw"] != nil {
		t.Error("test data, or a package without tests, is there")
	}
}

// An argument names a package, or all below a folder.
func TestNamed(t *testing.T) {
	for _, c := range []struct {
		args, dir string
		want      bool
	}{
		{"", "vet", true}, {"vet", "vet", true}, {"./vet/", "vet", true}, {"slab", "vet", false},
		{"slab", "slab/internal/percpu", false}, {"slab/...", "slab", true}, {"slab/...", "slab/internal/percpu", true},
		{"slab/...", "slabtest", false}, {"./...", "slab", true}, {"vet slab", "slab", true},
	} {
		if got := named(c.dir, strings.Fields(c.args)); got != c.want {
			t.Errorf("%q names %s: %v", c.args, c.dir, got)
		}
	}
}

// A reason is found by the change, also by one to a bar.
func TestReasons(t *testing.T) {
	want := change{file: "a.go", text: "if a|b == c | d {", old: "&", new: "|"}
	reasons := judged("A title.\n" + want.String() + " | it does nothing\n")
	if reasons[want.String()] != "it does nothing" {
		t.Errorf("%q", reasons)
	}
}

// What lives with a reason is in the source: the line is there, and offers the change.
func TestReasonsAreOfTheSource(t *testing.T) {
	t.Chdir("../..")
	for c := range judged(livesText) {
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

// A number beside an error may be any other. One beside nil, or in what is computed beside an error, may not.
func TestBesideAnError(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.go")
	src := "package a\n\nfunc f(n int) (int, bool, error) {\n\tif n > 0 {\n\t\treturn 0, false, fmt.Errorf(\"%d\", 2)\n\t}\n" +
		"\tif n < 7 {\n\t\treturn n + 1, true, &SizeError{3}\n\t}\n\treturn 4, false, nil\n}\n"
	if err := os.WriteFile(name, []byte(src), 0o666); err != nil {
		t.Fatal(err)
	}
	all, err := changesOf(name)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range all {
		if c.reason != "" {
			got = append(got, fmt.Sprint(c.line, c.old))
		}
	}
	if want := []string{"50", "5false", "8true"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
