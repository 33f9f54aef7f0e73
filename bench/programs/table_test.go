package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/bench/internal/report"
)

// measured is a table of one program in which the base takes 2 ms and 100 MiB; heap takes
// half the time and a quarter more memory.
func measured() table {
	of := func(seconds, mib float64) []figures {
		return []figures{{Ops: 1000, Seconds: seconds, Processor: 3 * seconds, Collector: 0.125, Slow: 0.004, Resident: mib * (1 << 20), Faults: 7000, Managed: 5 << 20}}
	}
	return table{
		kinds: []string{"go", base, "heap", "mmap"}, rounds: 1,
		results: []result{{program{name: "json", title: "JSON answers"}, [][]figures{of(4, 300), of(2, 100), of(1, 125), of(2.2, 90)}}},
	}
}

func TestTheTableComparesWithTheBase(t *testing.T) {
	text := measured().String()
	for _, want := range []string{
		"| program | go: time | memory | heap: time | memory | mmap: time | memory |\n|---|--:|--:|--:|--:|--:|--:|\n",
		"| JSON answers | 2.00 | 3.00 | 0.50 | 1.25 | 1.10 | 0.90 |\n",
		"| json | heap | 1,000 (1,000..1,000) | 3,000 | 12.5 | 4.00 | 125 (125..125) | 7.0 | 5.0 | 0.50 (0.50..0.50) | 1.25 (1.25..1.25) |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no\n%sin\n%s", want, text)
		}
	}
}

func TestTheTableShowsWhatStays(t *testing.T) {
	m := measured()
	if text := m.String(); strings.Contains(text, "later") {
		t.Error(text)
	}
	m.settles, m.results[0].of[3][0].Trimmed, m.results[0].of[3][0].Later = true, 30<<20, 31<<20
	for _, want := range []string{" | managed MiB | after a trim MiB | later MiB | time x |", " | 5.0 | 30.0 | 31.0 | 1.10 "} {
		if text := m.String(); !strings.Contains(text, want) {
			t.Errorf("there is no\n%s\nin\n%s", want, text)
		}
	}
}

// Without the base there is nothing to compare with, and the figures stay.
func TestATableWithoutTheBase(t *testing.T) {
	m := measured()
	m.kinds, m.results[0].of = []string{"heap"}, m.results[0].of[2:3]
	text := m.String()
	if !strings.Contains(text, "| json | heap | 1,000 (1,000..1,000) |") || strings.Contains(text, "heap: time") {
		t.Error(text)
	}
}

// A terminal shows the README whole, with figures of two digits before the point.
func TestTheReadmesTableIsNarrow(t *testing.T) {
	m := measured()
	for _, p := range programs[1:] {
		m.results = append(m.results, result{p, m.results[0].of})
	}
	for line := range strings.Lines(m.readme()) {
		if len(line) > 90 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

// The pages have the places that -write fills.
func TestThePagesHavePlacesForTheTables(t *testing.T) {
	top, err := root()
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{documentation, readme} {
		text, err := os.ReadFile(filepath.Join(top, page))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := report.Between(string(text), place, ""); err != nil {
			t.Errorf("%s: %v", page, err)
		}
	}
}

func TestTheTablesAreWritten(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Mkdir("docs", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := measured().write(); err == nil {
		t.Error("without the pages there is no error")
	}
	for _, page := range []string{documentation, readme} {
		if err := os.WriteFile(page, []byte("<!-- bench programs -->\nold\n<!-- end of programs -->\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := measured().write(); err != nil {
		t.Fatal(err)
	}
	for page, want := range map[string]string{documentation: "| json | mmap |", readme: "| JSON answers | 0.50 | 1.25 | 1.10 | 0.90 |\n"} {
		if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), want) || strings.Contains(string(text), "old") {
			t.Errorf("%s: %s, %v", page, text, err)
		}
	}
}
