package main

import (
	"os"
	"strings"
	"testing"

	"github.com/bufslab/bufslab/bench/internal/report"
)

// The pages have the places that -write fills.
func TestThePagesHavePlacesForTheTables(t *testing.T) {
	for _, place := range []string{"league", "counts"} {
		text, err := os.ReadFile(documentation)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := report.Between(string(text), place, ""); err != nil {
			t.Error(err)
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
