package main

import (
	"fmt"
	"strings"

	"github.com/bufslab/bufslab/bench/internal/report"
)

// A table is what the league's command prints: ours beside the fastest of the others, and
// all of them.
type table struct {
	contenders []contender
	results    []result
	rounds     int
	load       string // of the machine by others
}

func (t table) String() string {
	var b strings.Builder
	b.WriteString(report.Rounds(t.rounds, t.load) + "\n")
	b.WriteString(t.head())
	for _, r := range t.results {
		b.WriteString(t.ratios(r))
	}
	b.WriteString("\nNanoseconds of all pools, less the harness:\n\n")
	b.WriteString(report.Row(append([]string{"workload", "processors"}, names(t.contenders)...)...) + report.Rule(1, 1+len(t.contenders)))
	for _, r := range t.results {
		b.WriteString(t.times(r))
	}
	return b.String()
}

// head begins the table of ratios.
func (t table) head() string {
	cells := []string{"workload", "processors", "fastest other", "ns"}
	for _, c := range t.contenders {
		if c.ours {
			cells = append(cells, c.name)
		}
	}
	return report.Row(cells...) + report.Rule(1, len(cells)-1)
}

// ratios is a workload's line there: ours over the fastest of the others.
func (t table) ratios(r result) string {
	cells := []string{r.what(), fmt.Sprint(r.procs), "", ""}
	best := r.fastest(t.contenders)
	if best >= 0 {
		cells[2], cells[3] = t.contenders[best].name, report.Figure(report.SpreadOf(r.net[best]).Median)
	}
	for i, c := range t.contenders {
		if c.ours && best >= 0 {
			cells = append(cells, report.SpreadOf(report.Ratios(r.net[i], r.net[best])).Ratio())
		}
	}
	return report.Row(cells...)
}

// times is a workload's line in the table of all.
func (t table) times(r result) string {
	cells := []string{r.what(), fmt.Sprint(r.procs)}
	for _, net := range r.net {
		cells = append(cells, report.SpreadOf(net).Figures())
	}
	return report.Row(cells...)
}

func names(contenders []contender) (all []string) {
	for _, c := range contenders {
		all = append(all, c.name)
	}
	return all
}
