// Package report draws what replays took as one page of HTML that needs nothing else: no
// network, no script, style or font from elsewhere.
//
//	report.go  what a page is made of, and the page
//	axis.go    where the marks of an axis stand, and what they say
//	chart.go   what charts have in common: axes, colours that follow the page's
//	lines.go   bytes over time
//	sizes.go   the histogram of sizes
//	heap.go    the map of a page heap
//	page.html  the page
package report

import (
	_ "embed"
	"html/template"
	"io"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// A Page is what is reported: several configurations on several traces.
type Page struct {
	Version string   // of the command that made it
	Advice  string   // which configuration to use, "" if there is nothing to choose
	Configs []string // their names
	Traces  []Trace
	Header  []string // the columns of the tables, of which the first is the configuration
}

// A Trace is what was measured on a trace. Its Runs are samples of the replays on Page.Configs.
type Trace struct {
	Name     string
	About    string   // how long it is, and of when
	Warnings []string // what was wrong with the file
	Timed    bool     // Sample.At is nanoseconds, and not events
	Runs     [][]Sample
	Rows     [][]string // the table: a row for each run
	Sizes    []Size
	Map      Map
}

// A Sample says how many bytes the program and the pool had at a moment.
type Sample struct{ At, Live, Managed int64 }

//go:embed page.html
var pageHTML string

// page is html/template, which escapes names of traces and configurations where they stand.
var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"number": func(i int) int { return i + 1 },
	"series": series,
	"bytes":  func(n int64) string { return strings.ReplaceAll(size(n), " ", "\u00a0") }, // never at the end of a line
	"extents": func(n int) string {
		return humanize.Comma(int64(n)) + " " + english.PluralWord(n, "extent", "")
	},
}).Parse(pageHTML))

// Write writes the page. What it writes is the same each time.
func (p *Page) Write(w io.Writer) error { return page.Execute(w, p) }

// Several says that there is more than one trace, so that a list of them helps.
func (p *Page) Several() bool { return len(p.Traces) > 1 }

func size(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }
