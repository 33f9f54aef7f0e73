package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTextBetweenTheCommentsIsReplaced(t *testing.T) {
	const before, after = "before\n<!-- bench league -->\n", "<!-- end of league -->\nafter\n"
	file := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(file, []byte(before+"old\n"+after), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"new\n", "newer\n"} {
		if err := replace(file, "league", text); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(file); string(got) != before+text+after {
			t.Errorf("the page is\n%s", got)
		}
	}
	if err := replace(file, "counts", "new\n"); err == nil || !strings.Contains(err.Error(), "page.md") {
		t.Errorf("without the comments: %v", err)
	}
}

// The pages have the places that -write fills.
func TestThePagesHavePlacesForTheTables(t *testing.T) {
	for _, place := range [][2]string{{documentation, "league"}, {documentation, "counts"}, {readme, "league"}} {
		text, err := os.ReadFile(place[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := between(string(text), place[1], ""); err != nil {
			t.Errorf("%s: %v", place[0], err)
		}
	}
}

// scored is a table of one round: the second pool is ours and takes twice as long.
func scored(workloads []workload) table {
	t := table{contenders: []contender{{name: "theirs"}, {name: "heap", ours: true}, {name: "slow"}}, rounds: 1}
	for _, w := range workloads {
		t.results = append(t.results, result{w, [][]float64{{10}, {20}, {500}}})
	}
	return t
}

func TestTheTableSaysWhoIsFastest(t *testing.T) {
	w := workload{id: "W1", title: "hot pair", size: 4 << 10, procs: 2}
	text := scored([]workload{w}).String()
	for _, want := range []string{
		"| workload | processors | fastest other | ns | heap |\n|---|--:|--:|--:|--:|\n| hot pair, 4 KiB | 2 | theirs | 10.0 | 2.00 (2.00..2.00) |\n",
		"| hot pair, 4 KiB | 2 | 10.0 (10.0..10.0) | 20.0 (20.0..20.0) | 500 (500..500) |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no\n%sin\n%s", want, text)
		}
	}
}

// Without any of the others there is nobody to compare with, and their times stay.
func TestATableOfOursAlone(t *testing.T) {
	w := workload{title: "churn", procs: 1}
	alone := table{contenders: []contender{{name: "heap", ours: true}}, results: []result{{w, [][]float64{{20}}}}}
	if text := alone.String(); !strings.Contains(text, "| churn | 1 | 20.0 (20.0..20.0) |\n") {
		t.Error(text)
	}
}

// The README's lines are lines of the table, and the league has all of them.
func TestTheReadmeHasLinesOfTheTable(t *testing.T) {
	table := scored(league())
	lines, err := table.readme()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(lines, "\n"); n != 2+len(inReadme) {
		t.Errorf("%d lines", n)
	}
	for line := range strings.Lines(lines) {
		if !strings.Contains(table.String(), line) || len(line) > 101 {
			t.Errorf("not a line of the table, or too long: %s", line)
		}
	}
	if lines, err := scored(league()[:3]).readme(); err == nil {
		t.Errorf("of three workloads there is a\n%s", lines)
	}
}
