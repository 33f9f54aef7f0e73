package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// row is a line of a Markdown table.
func row(cells ...string) string { return "| " + strings.Join(cells, " | ") + " |\n" }

// rule is the line beneath a table's head: text columns, and then figures.
func rule(text, figures int) string {
	return "|" + strings.Repeat("---|", text) + strings.Repeat("--:|", figures) + "\n"
}

// A table is what the league's command prints: ours beside the fastest of the others, and
// all of them.
type table struct {
	contenders []contender
	results    []result
	rounds     int
	load       string // of the machine by others
}

// loadBefore says what others do on this machine, where that can be known.
func loadBefore() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	load, _, _ := strings.Cut(string(text), " ")
	return ", load " + load + " before"
}

func (t table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Medians (and quartiles) of %d rounds, %s on %s/%s, %d processors%s.\n\n",
		t.rounds, runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), t.load)
	b.WriteString(t.head())
	for _, r := range t.results {
		b.WriteString(t.ratios(r))
	}
	b.WriteString("\nNanoseconds of all pools, less the harness:\n\n")
	b.WriteString(row(append([]string{"workload", "processors"}, names(t.contenders)...)...) + rule(1, 1+len(t.contenders)))
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
	return row(cells...) + rule(1, len(cells)-1)
}

// ratios is a workload's line there: ours over the fastest of the others.
func (t table) ratios(r result) string {
	cells := []string{r.what(), fmt.Sprint(r.procs), "", ""}
	best := r.fastest(t.contenders)
	if best >= 0 {
		cells[2], cells[3] = t.contenders[best].name, nanoseconds(spreadOf(r.net[best]).median)
	}
	for i, c := range t.contenders {
		if c.ours && best >= 0 {
			cells = append(cells, spreadOf(ratios(r.net[i], r.net[best])).ratio())
		}
	}
	return row(cells...)
}

// times is a workload's line in the table of all.
func (t table) times(r result) string {
	cells := []string{r.what(), fmt.Sprint(r.procs)}
	for _, net := range r.net {
		cells = append(cells, spreadOf(net).time())
	}
	return row(cells...)
}

func names(contenders []contender) (all []string) {
	for _, c := range contenders {
		all = append(all, c.name)
	}
	return all
}

// inReadme are the lines that the README has of the table: wins and losses.
var inReadme = []string{"W1 4 KiB P1", "W1B 4 KiB P2", "W1B 256 KiB P1", "W2C P2", "W3 1 MiB P2"}

// readme is the table of ratios with these lines alone.
func (t table) readme() (string, error) {
	var b strings.Builder
	b.WriteString(t.head())
	for _, name := range inReadme {
		found := false
		for _, r := range t.results {
			if r.name() == name {
				b.WriteString(t.ratios(r))
				found = true
			}
		}
		if !found {
			return "", fmt.Errorf("the README wants %s, which was not run", name)
		}
	}
	return b.String(), nil
}
