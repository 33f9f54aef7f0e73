//go:build unix

package main

import (
	"bytes"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A port has at most 60 lines of ours, without empty lines and comments, formatted as gofmt does, and names a file that
// is there.
func TestPortsAreShort(t *testing.T) {
	for _, p := range ports {
		text, err := texts.ReadFile(p.text + ".go.txt")
		if err != nil {
			t.Fatal(err)
		}
		if n := len(regexp.MustCompile(`(?m)^\s*[^/\s]`).FindAll(text, -1)); n > 60 || n < 10 {
			t.Errorf("%s has %d lines", p.name, n)
		}
		if formatted, err := format.Source(text); err != nil || !bytes.Equal(formatted, text) {
			t.Errorf("%s: gofmt has it otherwise: %v", p.name, err)
		}
	}
}

// The flags choose by size, REGEXP by the name of the port and of the package.
func TestSuitesAreChosen(t *testing.T) {
	defer func(a, s bool) { *all, *short = a, s }(*all, *short)
	for want, set := range map[string][2]bool{"q": {false, true}, "qu": {false, false}, "qul": {true, false}} {
		*all, *short = set[0], set[1]
		p := port{name: "p", suites: []suite{{pkg: "q", size: quick}, {pkg: "u"}, {pkg: "l", size: long}}}
		p.choose(regexp.MustCompile("^p [qul]$"))
		var got string
		for _, s := range p.suites {
			got += s.pkg
		}
		if got != want {
			t.Errorf("%v: %s, not %s", set, got, want)
		}
	}
}

const source = `package p

type A[T any] struct{}

func (a *A[T]) F() {}

var v = 1

func F() {}

func G() { _ = "left" }
`

// Declarations go by name, and an edit or a name that is not there is an error: then theirs has changed.
func TestChange(t *testing.T) {
	b := &build{files: t.TempDir()}
	if err := os.WriteFile(filepath.Join(b.files, "a.go"), []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	b.cut = map[string][]string{"a.go": {"A", "A.F", "v", "F"}}
	b.edit = map[string][]edit{"a.go": {{`"(left)"`, "`$1`"}}}
	text, err := b.change("a.go")
	if got := strings.Join(strings.Fields(string(text)), " "); err != nil || got != "package p func G() { _ = `left` }" {
		t.Errorf("%q, %v", got, err)
	}
	b.cut["a.go"] = []string{"H"}
	if _, err := b.change("a.go"); err == nil {
		t.Error("H is no declaration")
	}
	b.cut, b.edit["a.go"] = nil, []edit{{"right", ""}}
	if _, err := b.change("a.go"); err == nil {
		t.Error("nothing matches")
	}
}

// A test counts against ours if it fails there in any round and with theirs in none; so does a process that ends early,
// theirs or ours, or passes nothing.
func TestCompare(t *testing.T) {
	pass := "\x16--- PASS: TestA (0.00s)\n\x16--- PASS: TestB/part (0.00s)\n\x16--- PASS: TestB (0.00s)\ngc 7 @0.1s\nBenchmarkC/d-2 \t 7 \t 1 ns/op\n"
	fail := "\x16--- FAIL: TestA (0.00s)\n\x16--- PASS: TestB (0.00s)\n"
	of := func(failed bool, text string) (r result) {
		r.Failed = failed
		r.read(text)
		return r
	}
	if r := of(false, pass); r.count("PASS") != 3 || r.collections != 7 {
		t.Errorf("%+v", r)
	}
	for _, c := range []struct {
		theirs, ours result
		worse        string
	}{
		{of(false, pass), of(false, pass), ""},
		{of(true, fail), of(true, fail), ""},
		{of(true, fail), of(false, pass), ""},
		{of(false, pass), of(true, fail), "TestA"},
		{of(false, pass), of(true, "panic: x"), "the process"},
		{of(false, pass), of(false, ""), "no test passes"},
		{of(true, "panic: x"), of(true, "panic: x"), "theirs ends early"},
	} {
		r := row{theirs: []result{c.theirs}, ours: []result{c.ours}}
		if r.compare(); strings.Join(r.worse, " ") != c.worse {
			t.Errorf("%q, not %q", r.worse, c.worse)
		}
	}
}

// What a program has used is its own, not that of the process that starts it.
func TestMeasured(t *testing.T) {
	big := bytes.Repeat([]byte{1}, 256<<20)
	u, err := measured(t.TempDir(), os.Environ(), filepath.Join(t.TempDir(), "print"), "sh", "-c", "exit 3")
	if err != nil || !u.Failed || u.Time <= 0 || u.Resident <= 0 || u.Resident > 128<<20 {
		t.Errorf("%+v, %v, %d", u, err, len(big))
	}
}

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == measuring {
		measure(os.Args[2], os.Args[3:])
	}
	m.Run()
}

// The table goes between its marks, and nothing else changes.
func TestIntoPage(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("a\n<!-- ports -->\nold\n<!-- end of ports -->\nb\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := intoPage(page, "new\n"); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(page)
	if string(text) != "a\n<!-- ports -->\nnew\n<!-- end of ports -->\nb\n" {
		t.Errorf("%q", text)
	}
	if intoPage(filepath.Join(t.TempDir(), "none"), "") == nil || os.WriteFile(page, nil, 0o666) != nil || intoPage(page, "") == nil {
		t.Error("no page, no marks")
	}
}
