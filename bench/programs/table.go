package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bufslab/bufslab/bench/internal/report"
)

// A result has the figures of a program: those of each round, by the kind of memory.
type result struct {
	program
	of [][]figures
}

// A table is what the command prints: two tables, of what matters, and of everything.
type table struct {
	kinds   []string
	results []result
	rounds  int
	settles bool
	load    string // of the machine by others
}

func (t table) String() string {
	var b strings.Builder
	b.WriteString(report.Rounds(t.rounds, t.load))
	if slices.Contains(t.kinds, base) {
		b.WriteString("\n" + t.beside(t.compared()))
	}
	b.WriteString("\n" + t.everything())
	return b.String()
}

// readme is beside with our defaults alone.
func (t table) readme() string { return t.beside([]string{"heap", "mmap"}) }

// compared are the kinds but that which all are compared with.
func (t table) compared() []string {
	return slices.DeleteFunc(slices.Clone(t.kinds), func(k string) bool { return k == base })
}

// beside has time and resident memory of kinds by those of the base, in medians.
func (t table) beside(kinds []string) string {
	cells := []string{"program"}
	for _, k := range kinds {
		cells = append(cells, k+": time", "memory")
	}
	var b strings.Builder
	b.WriteString(report.Row(cells...) + report.Rule(1, len(cells)-1))
	for _, r := range t.results {
		cells := []string{r.title}
		for _, k := range kinds {
			cells = append(cells, median(t.ratios(r, k, figures.perOp)), median(t.ratios(r, k, resident)))
		}
		b.WriteString(report.Row(cells...))
	}
	return b.String()
}

func median(s report.Spread) string { return fmt.Sprintf("%.2f", s.Median) }

func resident(f figures) float64 { return f.Resident }

// ratios divides a figure of one kind by that of the base, round by round.
func (t table) ratios(r result, kind string, figure func(figures) float64) report.Spread {
	return report.SpreadOf(report.Ratios(each(t.of(r, kind), figure), each(t.of(r, base), figure)))
}

func (t table) of(r result, kind string) []figures { return r.of[slices.Index(t.kinds, kind)] }

func each(of []figures, figure func(figures) float64) (v []float64) {
	for _, f := range of {
		v = append(v, figure(f))
	}
	return v
}

// A column has a figure of every process, in the unit of its head.
type column struct {
	head   string
	figure func(figures) float64
	print  func(report.Spread) string
}

func whole(s report.Spread) string { return report.Figure(s.Median) }

// shown are the columns of every table.
var shown = []column{
	{"ops/s", func(f figures) float64 { return 1 / f.perOp() }, report.Spread.Figures},
	{"processor us/op", func(f figures) float64 { return f.Processor / f.Ops * 1e6 }, whole},
	{"collector %", func(f figures) float64 { return f.Collector * 100 }, whole},
	{"p99 ms", func(f figures) float64 { return f.Slow * 1e3 }, median},
	{"resident MiB", func(f figures) float64 { return f.Resident / (1 << 20) }, report.Spread.Figures},
	{"faults/op", func(f figures) float64 { return f.Faults / f.Ops }, whole},
	{"managed MiB", func(f figures) float64 { return f.Managed / (1 << 20) }, whole},
}

// settling are those of -settle.
var settling = []column{
	{"after a trim MiB", func(f figures) float64 { return f.Trimmed / (1 << 20) }, whole},
	{"later MiB", func(f figures) float64 { return f.Later / (1 << 20) }, whole},
}

// columns are those that have figures.
func (t table) columns() []column {
	if t.settles {
		return slices.Concat(shown, settling)
	}
	return shown
}

// everything has a row for each program and kind.
func (t table) everything() string {
	cells := []string{"program", "memory"}
	for _, c := range t.columns() {
		cells = append(cells, c.head)
	}
	cells = append(cells, "time x", "memory x")
	var b strings.Builder
	b.WriteString(report.Row(cells...) + report.Rule(2, len(cells)-2))
	for _, r := range t.results {
		for _, k := range t.kinds {
			b.WriteString(t.line(r, k))
		}
	}
	return b.String()
}

func (t table) line(r result, kind string) string {
	cells := []string{r.name, kind}
	for _, c := range t.columns() {
		cells = append(cells, c.print(report.SpreadOf(each(t.of(r, kind), c.figure))))
	}
	if slices.Contains(t.kinds, base) {
		cells = append(cells, t.ratios(r, kind, figures.perOp).Ratio(), t.ratios(r, kind, resident).Ratio())
	} else {
		cells = append(cells, "", "")
	}
	return report.Row(cells...)
}
